import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Random } from '../../src/base/random.ts'
import { check } from '../../src/check/check.ts'
import { FORMATS, type Format, findFormat } from '../../src/formats/formats.ts'
import { readHistory } from '../../src/formats/open.ts'
import { saveHistory } from '../../src/formats/save.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import type { Value } from '../../src/history/values.ts'
import { generate } from '../../src/pipeline/generate.ts'
import { bySession } from '../formats/histories.ts'
import { some } from '../long.ts'
import { buildHistory, type Draft, type DraftOp } from '../small/draft.ts'
import { type RandomShape, randomHistory, shapeOf } from '../small/random-history.ts'
import { useTerminal } from './terminal.ts'

const terminal = useTerminal()
const native = findFormat('native')!

/** Random small histories, every second one without what the poorer formats lack. */
function smallHistory(seed: number): History {
  if (seed % 2 === 0) return buildHistory(randomHistory(seed, shapeOf(seed, { lists: 0.2 })))
  const initial = new Random(seed).pick([0, null, undefined])
  const plain: Partial<RandomShape> = {
    times: false,
    indeterminate: 0,
    aborted: seed % 3 === 0 ? 0.2 : 0,
    thinAir: 0,
    initial,
  }
  return buildHistory(numbered(randomHistory(seed, shapeOf(seed, plain))), 0)
}

/** The same with nonnegative integers as keys and values. */
function numbered(draft: Draft): Draft {
  const keys = new Map<unknown, number>()
  const keyOf = (key: unknown) => {
    if (!keys.has(key)) keys.set(key, keys.size)
    return keys.get(key)!
  }
  const positive = (value: Value) => (typeof value === 'number' && value < 0 ? 99 - value : value)
  const change = (op: DraftOp): DraftOp =>
    op.kind === 'list' || op.kind === 'rows'
      ? { ...op, key: keyOf(op.key) }
      : { ...op, key: keyOf(op.key), value: positive(op.value) }
  const sessions = draft.sessions.map((txns) =>
    txns.map((txn) => ({ ...txn, ops: txn.ops.map(change) })),
  )
  return { ...draft, sessions }
}

function generated(seed: number): History {
  const shape = (['general', 'mini', 'append'] as const)[seed % 3]!
  const workload = { shape, sessions: 4, transactions: 40, ops: 4, keys: 10 }
  const store = { level: 'cc' as const, aborts: seed % 2 ? 0.1 : 0 }
  return generate({ seed, workload, store, times: seed % 2 === 0 }).history
}

/** There and back by the command; true if the format could hold it. */
async function thereAndBack(format: Format, made: History, name: string): Promise<boolean> {
  const [from, there, back] = [`${name}.jsonl`, `${name}.there`, `${name}.back`].map(terminal.path)
  saveHistory(from!, native, made)
  const { history } = await readHistory(from!)
  const fits = format.misfits(history).length === 0
  expect(await terminal.run('convert', from!, there!, '--to', format.id)).toBe(fits ? 0 : 2)
  if (!fits) {
    expect(existsSync(there!)).toBe(false)
    expect(terminal.errors).toContain(`cannot hold ${format.misfits(history)[0]}`)
    return false
  }
  expect(await terminal.run('convert', there!, back!, '--format', format.id)).toBe(0)
  const returned = (await readHistory(back!)).history
  expect(bySession(returned, history)).toEqual(bySession(history, history))
  return true
}

describe('isobar convert', () => {
  // Jepsen's names and times are indices of events: those come back as others of the same order.
  const HOLDING = FORMATS.map((format) => format.id).filter((id) => !id.startsWith('jepsen'))

  test.each(HOLDING)('%s gives back what it can hold', async (id) => {
    const format = findFormat(id)!
    let held = 0
    // A poor format holds few: those of a short test are sought among all of the long one.
    for (let seed = 1; seed <= some(150, 10) || (held <= 10 && seed <= 150); seed++) {
      if (await thereAndBack(format, smallHistory(seed), `small${seed}`)) held++
    }
    expect(held).toBeGreaterThan(10)
    for (let seed = 1; seed <= some(12); seed++) {
      await thereAndBack(format, generated(seed), `generated${seed}`)
    }
  })

  test.each(FORMATS.map((format) => format.id))('%s keeps verdicts without names', async (id) => {
    const from = terminal.path('h.jsonl')
    for (const [i, level] of (['rc', 'ra', 'cc', 'ser'] as const).entries()) {
      const workload = { shape: 'general' as const, sessions: 4, transactions: 60, ops: 5, keys: 6 }
      const { history } = generate({ seed: i, workload, store: { level }, times: false })
      saveHistory(from, native, history, { force: true })
      const to = terminal.path(`h${i}`)
      expect(await terminal.run('convert', from, to, '--to', id, '--lossy')).toBe(0)
      const { history: back } = await readHistory(to, { format: id })
      for (const judged of ['rc', 'ra', 'cc', 'ser'] as const) {
        const { verdict } = check(history, judged)
        expect([judged, check(back, judged).verdict]).toEqual([judged, verdict])
      }
    }
  })

  test('names everything that would be lost, and loses it when told to', async () => {
    const from = terminal.path('h.notation')
    const text = 's1: w(x,a) [id=first 1,2] | r(x,a) [indeterminate]\ns2: append(l,7) [aborted]\n'
    writeFileSync(from, text)
    expect(await terminal.run('convert', from, terminal.path('h.txt'))).toBe(2)
    for (const part of ['keys that are such strings ("x")', 'values', 'lists', 'times']) {
      expect(terminal.errors).toContain(part)
    }
    expect(terminal.errors).toContain('indeterminate transactions (#2)')
    expect(terminal.errors).toContain('hint: --lossy leaves it out')
    expect(readdirSync(terminal.folder)).toEqual(['h.notation'])

    expect(await terminal.run('convert', from, terminal.path('h.txt'), '--lossy')).toBe(0)
    expect(terminal.errors).toContain('warning: Plume text does not hold lists')
    expect(terminal.output).toContain('h.txt (plume, from notation, ')
    expect(readFileSync(terminal.path('h.txt'), 'utf8')).toMatch(/^w\(/)
  })

  test('replaces an output only with --force, and never the input', async () => {
    const path = terminal.path('h.jsonl')
    saveHistory(path, native, parseNotation('s0: w(1,2)'))
    const before = readFileSync(path)
    expect(await terminal.run('convert', path, path, '--force')).toBe(2)
    expect(terminal.errors).toContain('an input of this command')
    expect(readFileSync(path)).toEqual(before)

    const logs = terminal.path('logs')
    expect(await terminal.run('convert', path, logs, '--to', 'cobra')).toBe(0)
    expect(await terminal.run('convert', path, logs, '--to', 'cobra')).toBe(2)
    expect(await terminal.run('convert', path, logs, '--to', 'cobra', '--force')).toBe(0)
    expect(readdirSync(terminal.folder).sort()).toEqual(['h.jsonl', 'logs'])
  })

  test('goes by the ending of the name, and compresses', async () => {
    const path = terminal.path('h.notation')
    writeFileSync(path, 's0: w(1,2) | r(1,2)\n')
    expect(await terminal.run('convert', path, terminal.path('h.hist.gz'), '--json')).toBe(0)
    const { format, fromFormat, lost, transactions } = JSON.parse(terminal.output)
    expect([format, fromFormat, lost, transactions]).toEqual(['hist', 'notation', [], 2])
    expect([...readFileSync(terminal.path('h.hist.gz')).subarray(0, 2)]).toEqual([0x1f, 0x8b])
    expect((await readHistory(terminal.path('h.hist.gz'))).format.id).toBe('hist')
  })

  const BAD: [string[], RegExp][] = [
    [['h.notation', 'out', '--to', 'csv'], /unknown format "csv"\nhint: there are native, /],
    [['h.notation', 'out', '--format', 'csv'], /unknown format "csv"\nhint: there are native, /],
    [['h.notation', 'out', '--format', 'dbcop-json'], /h\.notation:1:1: /],
    [['none.txt', 'out'], /there is no such file/],
    [['h.notation', 'no/out'], /there is no such directory/],
    [['h.notation', '-', '--to', 'viper'], /this format is a directory/],
    [['h.notation'], /missing required argument/],
  ]
  test.each(BAD)('refuses %s', async (names, message) => {
    writeFileSync(terminal.path('h.notation'), 's0: w(1,2)\n')
    const argv = names.map((name, i) => (i < 2 && name !== '-' ? terminal.path(name) : name))
    expect(await terminal.run('convert', ...argv)).toBe(2)
    expect(terminal.errors).toMatch(message)
    expect(readdirSync(terminal.folder)).toEqual(['h.notation'])
  })
})
