// What a picture of an anomaly shows, as plain data with every text made and cut already: the
// transactions with their operations, and the argument as steps with reasons below them. Nothing
// here depends on the history, so the same data draws the picture in a file and again, with other
// steps opened, in the page. Main function: buildFigure.

import { cut, inert } from '../../base/inert.ts'
import { obtain, TupleMap } from '../../base/maps.ts'
import type { TimeUnit } from '../../history/history.ts'
import type { Value } from '../../history/values.ts'
import { type EdgeKind, findEdges } from '../../verdict/verdict.ts'
import type {
  CaseJson,
  EdgeJson,
  OpJson,
  PassedJson,
  PlaceJson,
  TxnJson,
} from '../../verdict/verdict-file.ts'
import { damaged, type Example } from '../example.ts'
import { laneName, plain } from '../names.ts'
import {
  describeOps,
  type FigureOp,
  type FigureOps,
  isWrite,
  labelOf,
  type SpokenOf,
  short,
} from './figure-text.ts'
import { readFindings } from './findings.ts'

/** Where there is no transaction: the initial state; nobody, for a value from nowhere. */
export const INITIAL_NODE = -1
export const NOBODY = -2

export interface FigureTxn {
  /** As the story calls it, and as the pictures do, where there is less room. */
  name: string
  label: string
  session: string
  /** Which lane: sessions of one name may be two. */
  lane: number
  /** What is worth a word: aborted, outcome unknown, the level it ran at. */
  note: string
  status: 'committed' | 'aborted' | 'indeterminate'
  start: number | null
  finish: number | null
  ops: FigureOp[]
  /** operation -> its line in `ops` */
  lines: number[]
}

/** One step of the argument: `from` comes before `to`. Nodes are positions in `txns`. */
export interface Step {
  /** Unique in the figure; a reason's id begins with that of the step it supports. */
  id: string
  from: number
  to: number
  kind: EdgeKind
  label: string
  because: string
  /** [transaction, operation] pairs that make it. */
  ops: [number, number][]
  premises: Step[]
  assumed: boolean
  refutes: boolean
  /** It rests on a row that was not returned. */
  absent: boolean
}

/** One case: what it assumes, and the cycle which that closes; none if earlier cases exclude it. */
export interface Branch {
  id: string
  /** What it assumes: `If T1 commits before T2`. */
  heading: string
  assumptions: Step[]
  steps: Step[]
}

export interface Figure {
  txns: FigureTxn[]
  /** Whether the x axis may be time: every transaction says when it started. */
  timed: boolean
  /** In which unit; null if the history does not say. */
  unit: TimeUnit | null
  /** The cycle, or what the offending reads did. */
  steps: Step[]
  branches: Branch[]
  /** How much was left out because the picture would be too large. */
  cutTxns: number
  cutSteps: number
}

/** What a node is called in words. */
export function nameOf(figure: Figure, node: number): string {
  return figure.txns[node]?.name ?? (node === NOBODY ? 'nobody' : 'the initial state')
}

/** Reads of what nobody wrote: a value, or that there is no row. */
const FROM_NOWHERE: ReadonlySet<string> = new Set(['ThinAirRead', 'VanishedRow'])
const MAX_TXNS = 60
const MAX_STEPS = 300
const MAX_DEPTH = 12
const MAX_LABEL = 24 // of a transaction or session in the pictures

export const buildFigure = (example: Example): Figure => new FigureBuilder(example).build()

class FigureBuilder {
  private readonly index = new Map<string, number>() // name of a transaction -> its node
  private readonly txns: TxnJson[]
  private readonly ops: FigureOps[] // node -> what it did
  private readonly rows: ReadonlySet<Value> // names of rows
  private stepCount = 0
  private cutSteps = 0
  private readonly waiting: { step: Step; premises: EdgeJson[]; depth: number }[] = []

  constructor(private readonly example: Example) {
    this.txns = example.txns.slice(0, MAX_TXNS)
    const spokenOf = findSpokenOf(example)
    this.ops = this.txns.map((txn) => describeOps(txn, spokenOf))
    this.rows = findRows(example)
    this.txns.forEach((txn, node) => {
      if (this.index.has(txn.id)) throw damaged(`${plain(txn.id)} is in the core twice`)
      this.index.set(txn.id, node)
    })
    for (const txn of example.txns.slice(MAX_TXNS)) this.index.set(txn.id, Number.NaN)
  }

  build(): Figure {
    const { anomaly, txns } = this.example
    const edges = anomaly.edges.length > 0 || anomaly.cases.length > 0 ? anomaly.edges : null
    const steps = edges ? this.steps(edges, 'e', 0) : this.steps(readFindings(this.example), 'r', 0)
    const branches = this.branches(anomaly.cases)
    for (const { step, premises, depth } of this.waiting) {
      step.premises = this.steps(premises, `${step.id}.`, depth)
    }
    return {
      txns: this.describeTxns(),
      timed: this.txns.length > 0 && this.txns.every((txn) => txn.start !== undefined),
      unit: this.example.unit,
      steps,
      branches,
      cutTxns: txns.length - this.txns.length,
      cutSteps: this.cutSteps,
    }
  }

  private describeTxns(): FigureTxn[] {
    const lanes = new Map<Value, number>()
    const names = distinct(this.txns.map((txn) => plain(txn.id)))
    const labels = distinct(names.map((name) => cut(name, MAX_LABEL)))
    return this.txns.map((txn, node) => {
      const { ops, lineOfOp: lines } = this.ops[node]!
      return {
        name: names[node]!,
        label: labels[node]!,
        session: cut(laneName(txn.session), MAX_LABEL),
        lane: obtain(lanes, txn.session, () => lanes.size),
        note: short(notesOf(txn).join(', ')),
        status: txn.status,
        start: txn.start ?? null,
        finish: txn.finish ?? null,
        ops,
        lines,
      }
    })
  }

  private steps(edges: readonly EdgeJson[], prefix: string, depth: number): Step[] {
    return edges.flatMap((edge, i) => {
      const step = this.step(edge, `${prefix}${i + 1}`, depth)
      if (!step) this.cutSteps++
      return step ?? []
    })
  }

  /** The step without its reasons: those come when all steps above them have found room. */
  private step(edge: EdgeJson, id: string, depth: number): Step | null {
    const from = this.node(edge.from, edge.kind)
    const to = this.node(edge.to, edge.kind)
    if (this.stepCount >= MAX_STEPS || depth > MAX_DEPTH) return null
    if (Number.isNaN(from) || Number.isNaN(to)) return null
    this.stepCount++
    const ops = edge.ops.map((place) => this.example.op(place))
    const step: Step = {
      id,
      from,
      to,
      kind: edge.kind,
      label: labelOf(edge, ops, this.rows),
      because: inert(edge.because),
      ops: this.places(edge),
      premises: [],
      assumed: edge.assumed === true,
      refutes: edge.refutes === true,
      absent: edge.passed !== undefined,
    }
    this.waiting.push({ step, premises: edge.premises, depth: depth + 1 })
    return step
  }

  private branches(cases: readonly CaseJson[]): Branch[] {
    return cases.flatMap(({ heading, assumptions, cycle }, i) => {
      if (this.stepCount >= MAX_STEPS) {
        this.cutSteps++
        return []
      }
      const id = `c${i + 1}`
      return {
        id,
        heading: inert(heading),
        assumptions: this.steps(assumptions, `${id}.a`, 0),
        steps: this.steps(cycle, `${id}.e`, 1),
      }
    })
  }

  private node(name: string | null, kind: EdgeKind): number {
    if (name === null)
      return kind === 'WR' && FROM_NOWHERE.has(this.example.anomaly.name) ? NOBODY : INITIAL_NODE
    const node = this.index.get(name)
    if (node === undefined) throw damaged(`transaction ${plain(name)} is not in the core`)
    return node
  }

  /** The lines that make a step, each once. */
  private places(edge: EdgeJson): [number, number][] {
    const passed = edge.passed ?? (edge.kind === 'RW' ? edge.premises[0]?.passed : undefined)
    const found = new TupleMap<[number, number], [number, number]>()
    const add = (place: [number, number]) => found.set(place, place)
    for (const place of edge.ops) add(this.place(place))
    if (passed) add(this.statement(passed))
    return [...found.values()].filter(([node]) => !Number.isNaN(node))
  }

  private place({ transaction, index }: PlaceJson): [number, number] {
    const node = this.node(transaction, 'SO')
    return [node, this.ops[node]?.lineOfOp[index] ?? 0]
  }

  private statement({ transaction, statement }: PassedJson): [number, number] {
    const node = this.node(transaction, 'SO')
    const lines = this.ops[node]?.lineOfStatement ?? []
    if (node in this.ops && lines[statement] === undefined) {
      throw damaged(`transaction ${plain(transaction)} has no statement ${statement}`)
    }
    return [node, lines[statement] ?? 0]
  }
}

/** What the evidence speaks of: keys, and of each the values that were written to it. */
function findSpokenOf(example: Example): SpokenOf {
  const { anomaly } = example
  const spokenOf = new Map<Value, Set<Value>>()
  const add = (key: Value, op?: OpJson) => {
    const values = obtain(spokenOf, key, () => new Set())
    if (op && isWrite(op) && !Array.isArray(op[2])) values.add(op[2])
  }
  for (const { op } of example.ops()) add(op[1], op)
  const edges = [...findEdges(anomaly.edges, anomaly.cases), ...readFindings(example)]
  for (const { key, ops } of edges) {
    add(key)
    for (const op of ops.map((place) => example.op(place))) add(op[1], op)
  }
  return spokenOf
}

/** The keys that are rows: those that statements speak of. */
function findRows({ anomaly, txns }: Example): Set<Value> {
  const rows = new Set<Value>()
  for (const { ops, statements = [] } of txns) {
    for (const { first, count } of statements) {
      for (const op of ops.slice(first, first + count)) rows.add(op[1])
    }
  }
  if (anomaly.absence) rows.add(anomaly.absence.key)
  for (const { passed } of findEdges(anomaly.edges, anomaly.cases)) if (passed) rows.add(passed.key)
  return rows
}

/** Names that were cut may have become the same: those get a number. */
function distinct(names: readonly string[]): string[] {
  const seen = new Map<string, number>()
  return names.map((name) => {
    const count = (seen.get(name) ?? 0) + 1
    seen.set(name, count)
    return count === 1 ? name : `${name}#${count}`
  })
}

function notesOf(txn: TxnJson): string[] {
  const notes: string[] = []
  if (txn.status === 'aborted') notes.push(txn.rolledBack ? 'rolled back' : 'aborted')
  if (txn.status === 'indeterminate') notes.push('outcome unknown')
  if (txn.audit) notes.push('audit')
  if (txn.level !== undefined) notes.push(txn.level)
  return notes
}
