// Cuts a history that violates a level down to a part from which nothing can be left out: without
// any one of its transactions, or any one of its operations, the level would hold. A write that
// goes takes its reads with it (history/sub-history.ts).
//
// The evidence of a verdict nearly is such a part, so the search starts there: the operations that
// an anomaly names, else all operations of its transactions. Where that is not enough (evidence
// speaks of what is wrong, not of all it takes to see it), runs of transactions are left out, long
// ones first (Zeller & Hildebrandt's ddmin), and every verdict on the way offers evidence anew.
// Since leaving things out never breaks a level, what could not be left out once never can, and
// neither can what it needs: a long chain of versions costs no verdicts of its own.
//
// Cost: one verdict on the whole, then a few hundred on parts the size of the evidence. Decides
// nothing itself: the decider comes as an argument. Main function: shrinkHistory.

import { BudgetExceeded } from '../base/errors.ts'
import type { History } from '../history/history.ts'
import { buildPart, expectNoStatements, findPart, withNeeds } from '../history/sub-history.ts'
import { type Anomaly, findEdges, type LevelResult } from './verdict.ts'

/** Judges a history at the level of interest. */
export type Decider = (history: History) => LevelResult

export interface Shrunk {
  /** What is left, under the names it had in the whole. */
  readonly history: History
  /** Its verdict: violated. */
  readonly result: LevelResult
  /** How many histories were judged. */
  readonly verdicts: number
  /** Whether nothing more can be left out; false if a budget ran out before that was known. */
  readonly isLeast: boolean
}

export interface ShrinkOptions {
  /** Leave out whole transactions only, for levels that know no others. */
  readonly whole?: boolean
  /** Called after each verdict, e.g. to show progress; BudgetExceeded ends the search there. */
  readonly onStep?: (shrunk: Shrunk) => void
}

/** The smaller history; the whole under its own verdict if that is not `violated`. */
export function shrinkHistory(
  history: History,
  decide: Decider,
  options: ShrinkOptions = {},
): Shrunk {
  expectNoStatements(history)
  const shrinker = new Shrinker(history, decide, options)
  if (shrinker.result.verdict === 'violated') shrinker.run()
  const { result, verdicts, isLeast } = shrinker
  return { history: shrinker.history, result, verdicts, isLeast }
}

class Shrinker implements Shrunk {
  verdicts = 1
  isLeast = false
  history: History
  result: LevelResult
  private origin: Int32Array // op -> op of the whole
  private readonly essential = new Set<number>() // ops of the whole that cannot be left out

  constructor(
    private readonly whole: History,
    private readonly decide: Decider,
    private readonly options: ShrinkOptions,
  ) {
    this.history = whole
    this.origin = Int32Array.from({ length: whole.opCount }, (_, op) => op)
    this.result = decide(whole)
  }

  run(): void {
    try {
      this.leaveOutAll()
      this.isLeast = true
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error
    }
  }

  private leaveOutAll(): void {
    this.followEvidence()
    const txns = { count: () => this.history.txnCount, ops: opsOfTxn }
    const ops = { count: () => this.history.opCount, ops: (_: History, op: number) => [op] }
    this.probeEvidence()
    for (let size = txns.count() >> 1; size > 1; size >>= 1) this.leaveOut(size, txns)
    while (this.leaveOut(1, txns) || this.leaveOut(1, ops)) {}
  }

  /** Takes the evidence for the whole for as long as that makes it smaller. */
  private followEvidence(): void {
    while (this.evidence().some((ops) => this.try(ops))) {}
  }

  /** Parts that evidence speaks of, each smaller than the history, smallest first. */
  private evidence(): number[][] {
    const { history, result } = this
    const parts = result.anomalies.flatMap((anomaly) => [
      findOps(anomaly),
      [...anomaly.txns, ...anomaly.earlier].flatMap((txn) => opsOfTxn(history, txn)),
    ])
    return parts
      .map((ops) => withNeeds(history, ops, this.options))
      .filter((ops) => ops.length < history.opCount)
      .sort((a, b) => a.length - b.length)
  }

  /** Tries to do without each operation of the evidence; most turn out to be essential. */
  private probeEvidence(): void {
    const [anomaly] = this.result.anomalies
    const named = new Set((anomaly ? findOps(anomaly) : []).map((op) => this.origin[op]!))
    for (const op of named) {
      const here = this.origin.indexOf(op)
      if (here >= 0) this.tryWithout([here])
    }
  }

  /**
   * Goes through runs of so many units, last ones first, and leaves out those that it can.
   * @returns whether any went
   */
  private leaveOut(size: number, units: Units): boolean {
    let removed = false
    for (let end = units.count(); end > 0; ) {
      const start = Math.max(0, end - size)
      const gone = range(start, end).flatMap((unit) => units.ops(this.history, unit))
      end = start
      if (!this.tryWithout(gone)) continue
      removed = true
      this.followEvidence()
      // Others went too, with what they read: where numbers shift, the next round is the judge.
      end = Math.min(end, units.count())
    }
    return removed
  }

  private tryWithout(gone: readonly number[]): boolean {
    if (gone.some((op) => this.essential.has(this.origin[op]!))) return false
    const without = new Set(gone)
    if (this.try(range(0, this.history.opCount).filter((op) => !without.has(op)))) return true
    // Of several that cannot go together, each one might.
    const { opTxn } = this.history
    const isOne = this.options.whole && gone.every((op) => opTxn[op] === opTxn[gone[0]!])
    if (gone.length === 1 || isOne) {
      const ops = gone.map((op) => this.origin[op]!)
      for (const op of withNeeds(this.whole, ops, this.options)) this.essential.add(op)
    }
    return false
  }

  /** Goes on with these operations if they violate the level on their own. */
  private try(ops: readonly number[]): boolean {
    const kept = findPart(this.history, ops, this.options)
    const history = buildPart(this.history, kept)
    const result = this.decide(history)
    this.verdicts++
    const violated = result.verdict === 'violated'
    if (violated) {
      this.origin = kept.map((op) => this.origin[op]!)
      this.history = history
      this.result = result
    }
    this.options.onStep?.(this)
    return violated
  }
}

/** What can be left out: transactions, or operations. */
interface Units {
  count(): number
  ops(history: History, unit: number): number[]
}

function range(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, i) => start + i)
}

function opsOfTxn({ txnOpStart }: History, txn: number): number[] {
  return range(txnOpStart[txn]!, txnOpStart[txn + 1]!)
}

/** Every operation that the anomaly's evidence names. */
function findOps({ ops, edges, cases }: Anomaly): number[] {
  const found = new Set(ops)
  for (const edge of findEdges(edges, cases)) for (const op of edge.ops) found.add(op)
  return [...found]
}
