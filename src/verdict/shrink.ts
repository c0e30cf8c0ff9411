// Cuts a history that violates a level down to a part from which nothing can be left out: without
// any one of its transactions, or any one of its operations, statements and rows, the level would
// hold. A write that goes takes its reads with it (parts.ts).
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
import { findPart, withNeeds } from '../history/sub-history.ts'
import type { Part, Parts } from './part.ts'
import { partsOf } from './parts.ts'
import type { LevelResult } from './verdict.ts'

/** Judges a history at the level of interest. */
export type Decider = (history: History) => LevelResult | Promise<LevelResult>

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
  /** The verdict on the whole, if it is known. */
  readonly known?: LevelResult
  /** Called after each verdict, e.g. to show progress; BudgetExceeded ends the search there. */
  readonly onStep?: (shrunk: Shrunk) => void | Promise<void>
}

/** The smaller history; the whole under its own verdict if that is not `violated`. */
export async function shrinkHistory(
  history: History,
  decide: Decider,
  options: ShrinkOptions = {},
): Promise<Shrunk> {
  const result = options.known ?? (await decide(history))
  const verdicts = options.known ? 0 : 1
  if (result.verdict !== 'violated') return { history, result, verdicts, isLeast: false }
  const parts = await partsOf(history, options.whole ? { whole: true } : {})
  const shrinker = new Shrinker(result, verdicts, parts, decide, options)
  await shrinker.run()
  const { history: left, result: its, verdicts: judged, isLeast } = shrinker
  return { history: left, result: its, verdicts: judged, isLeast }
}

class Shrinker implements Shrunk {
  isLeast = false
  private part: Part
  private items: Int32Array // of the whole, that are left
  private readonly essential = new Set<number>() // items that cannot be left out

  constructor(
    public result: LevelResult,
    public verdicts: number,
    private readonly parts: Parts,
    private readonly decide: Decider,
    private readonly options: ShrinkOptions,
  ) {
    this.part = parts.whole
    this.items = Int32Array.from({ length: parts.itemCount }, (_, item) => item)
  }

  get history(): History {
    return this.part.history
  }

  async run(): Promise<void> {
    try {
      await this.leaveOutAll()
      this.isLeast = true
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error
    }
  }

  private async leaveOutAll(): Promise<void> {
    await this.followEvidence()
    await this.probeEvidence()
    // What did nothing, and what nothing is said of, goes at once.
    if (this.part === this.parts.whole) await this.try(this.items)
    const kinds = this.parts.groups(this.items).length
    for (let kind = 0; kind < kinds - 1; kind++) {
      for (let size = this.groups(kind).length >> 1; size > 1; size >>= 1) {
        await this.leaveOut(size, kind)
      }
    }
    for (let kind = 0; kind < kinds; ) kind = (await this.leaveOut(1, kind)) ? 0 : kind + 1
  }

  /** Takes the evidence for the whole for as long as that makes it smaller. */
  private async followEvidence(): Promise<void> {
    for (let isSmaller = true; isSmaller; ) {
      isSmaller = false
      for (const items of this.evidence()) {
        isSmaller = await this.try(items)
        if (isSmaller) break
      }
    }
  }

  /** Parts that evidence speaks of, each smaller than the history, smallest first. */
  private evidence(): number[][] {
    const { part } = this
    return this.result.anomalies
      .flatMap((anomaly) => [
        part.named(anomaly),
        [...anomaly.txns, ...anomaly.earlier].flatMap((txn) => part.ofTxn(txn)),
      ])
      .map((items) => withNeeds(items, this.needs))
      .filter((items) => items.length < this.items.length)
      .sort((a, b) => a.length - b.length)
  }

  /** Tries to do without each item of the evidence; most turn out to be essential. */
  private async probeEvidence(): Promise<void> {
    const [anomaly] = this.result.anomalies
    const named = anomaly ? this.part.named(anomaly) : []
    for (const item of named) if (this.items.includes(item)) await this.tryWithout([item])
  }

  private groups(kind: number): number[][] {
    return this.parts.groups(this.items)[kind]!
  }

  /**
   * Goes through runs of so many groups, last ones first, and leaves out those that it can.
   * @returns whether any went
   */
  private async leaveOut(size: number, kind: number): Promise<boolean> {
    let removed = false
    let groups = this.groups(kind)
    for (let end = groups.length; end > 0; ) {
      const start = Math.max(0, end - size)
      const gone = groups.slice(start, end).flat()
      end = start
      if (!(await this.tryWithout(gone, size === 1))) continue
      removed = true
      await this.followEvidence()
      // Others went too, with what they read: where numbers shift, the next round is the judge.
      groups = this.groups(kind)
      end = Math.min(end, groups.length)
    }
    return removed
  }

  private async tryWithout(gone: readonly number[], isOne = true): Promise<boolean> {
    if (gone.some((item) => this.essential.has(item))) return false
    const without = new Set(gone)
    if (await this.try(this.items.filter((item) => !without.has(item)))) return true
    // Of several that cannot go together, each one might.
    const isWhole = this.options.whole === true && isOne
    if (gone.length === 1 || isWhole) {
      for (const item of withNeeds(gone, this.needs)) this.essential.add(item)
    }
    return false
  }

  private readonly needs = (item: number) => this.parts.needs(item)

  /** Goes on with these items if they violate the level on their own. */
  private async try(items: Iterable<number>): Promise<boolean> {
    const kept = findPart(items, this.needs)
    const part = this.parts.build(kept)
    const result = await this.decide(part.history)
    this.verdicts++
    const violated = result.verdict === 'violated'
    if (violated) {
      this.items = kept
      this.part = part
      this.result = result
    }
    await this.options.onStep?.(this)
    return violated
  }
}
