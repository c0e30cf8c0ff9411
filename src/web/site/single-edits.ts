// Every single edit of a history in notation: another value for a read, two neighbours that change
// places, an operation left out. Which of them makes a level hold is for a judge to say. Main
// functions: findSingleEdits, applyEdit.

import { type Operation, readOperations, splitArguments } from './operations.ts'

/** A change of the text: what stands from `from` to `to` becomes `insert`. */
export interface Edit {
  readonly from: number
  readonly to: number
  readonly insert: string
  /** What it does, in words. */
  readonly words: string
}

const INITIAL = /^[ \t]*initial[ \t]+(\S+)/m

export function applyEdit(text: string, { from, to, insert }: Edit): string {
  return text.slice(0, from) + insert + text.slice(to)
}

/** Those that say most about a history come first: reads, then order, then what is left out. */
export function findSingleEdits(text: string): Edit[] {
  const ops = readOperations(text)
  return [...otherValues(text, ops), ...swaps(text, ops), ...omissions(text, ops)]
}

function otherValues(text: string, ops: readonly Operation[]): Edit[] {
  const initial = INITIAL.exec(text)?.[1] ?? '0'
  const edits: Edit[] = []
  for (const op of ops) {
    if (op.verb !== 'r') continue
    const known = new Set<string>()
    for (const other of ops) if (other.key === op.key) for (const v of valuesOf(other)) known.add(v)
    const isList = op.value.startsWith('[')
    if (!isList && initial !== 'none') known.add(initial)
    if (isList) known.add('[]')
    for (const value of known) {
      if (value === op.value || value.startsWith('[') !== isList) continue
      const insert = `r(${op.key},${value})`
      const words = `line ${op.line}: ${op.text} becomes ${insert}`
      edits.push({ from: op.from, to: op.to, insert, words })
    }
  }
  return edits
}

/** What a read of the key could have seen, as far as this operation tells. */
function valuesOf({ verb, value }: Operation): string[] {
  if (verb === 'rows') return []
  if (!value.startsWith('[')) return [value]
  const items = splitArguments(value.slice(1, -1)).filter((item) => item !== '')
  return items.map((_, i) => `[${items.slice(0, i + 1).join(',')}]`)
}

function swaps(text: string, ops: readonly Operation[]): Edit[] {
  const edits: Edit[] = []
  for (let i = 1; i < ops.length; i++) {
    const [first, second] = [ops[i - 1]!, ops[i]!]
    if (first.txn !== second.txn || first.text === second.text) continue
    const between = text.slice(first.to, second.from)
    const words = `line ${first.line}: ${first.text} and ${second.text} change places`
    const insert = second.text + between + first.text
    edits.push({ from: first.from, to: second.to, insert, words })
  }
  return edits
}

function omissions(text: string, ops: readonly Operation[]): Edit[] {
  const edits: Edit[] = []
  for (const op of ops) {
    if (!ops.some((other) => other !== op && other.txn === op.txn)) continue
    const to = op.to + (/^[ \t]+/.exec(text.slice(op.to))?.[0].length ?? 0)
    const words = `line ${op.line}: ${op.text} is left out`
    edits.push({ from: op.from, to, insert: '', words })
  }
  return edits
}
