// What contradicts an order at ser or si, put right window by window: the engine in memory orders
// each anew, or says that it cannot be. The latter is only believed of transactions that are loaded
// from the file and judged by themselves. Main function: mendStrong.

import { assert, BudgetExceeded } from '../../base/errors.ts'
import { check } from '../../check/check.ts'
import type { CheckOptions } from '../../check/options.ts'
import type { History } from '../../history/history.ts'
import { type CommitOrder, orderOf } from '../../spill/commit-order.ts'
import type { SpilledHistory } from '../../spill/spilled-history.ts'
import type { LevelResult } from '../../verdict/verdict.ts'
import type { DecideTools } from './decision.ts'
import type { StrongSpilledLevel } from './levels.ts'
import { WindowHistory } from './window-history.ts'
import { WindowOps } from './window-ops.ts'
import { chooseWindows, type Span, WindowSet } from './windows.ts'

/** Of how many windows without an order the transactions are kept to be judged by themselves. */
const KEPT = 8

export interface StrongMended {
  readonly order: CommitOrder
  /** Windows that no order was found for. */
  readonly failed: readonly Span[]
  /** Sets of transactions, the smaller first, that may show a violation. */
  readonly suspects: readonly ReadonlySet<number>[]
  /** Whether all was looked at: false where stretches are too long. */
  readonly isComplete: boolean
}

export interface StrongInput {
  readonly spilled: SpilledHistory
  readonly order: CommitOrder
  readonly level: StrongSpilledLevel
  readonly tools: DecideTools
}

export function mendStrong(input: StrongInput, spans: readonly Span[]): StrongMended {
  const { spilled, order } = input
  const { scratch, onStep } = input.tools
  const windows = chooseWindows(spans, mostTxns(spilled))
  const set = new WindowSet(windows, spilled.txnCount)
  const onBucket = (bucket: number) => onStep('comparing', bucket, spilled.sizes.buckets)
  const ops = new WindowOps(spilled, order, set, scratch, onBucket)
  const txnAt = order.txnAt?.slice() ?? Int32Array.from({ length: spilled.txnCount }, (_, i) => i)
  const failed: Span[] = []
  const cores = new Set<number>()
  const wholes = new Set<number>()
  try {
    for (const [number, records] of ops.all()) {
      onStep('ordering', number, windows.length)
      const window = windows[number]!
      const made = new WindowHistory(spilled, order, window, records)
      const judged = judgeWindow(input, made, !window.isPiece)
      if (judged.nodes !== null) {
        if (window.isPiece) continue
        for (let i = 0; i < judged.nodes.length; i++) {
          const at = window.first + judged.nodes[i]!
          txnAt[window.first + i] = order.txnAt === null ? at : order.txnAt[at]!
        }
        continue
      }
      failed.push(window)
      if (failed.length > KEPT) break
      made.addTxns(judged.core, true, cores)
      made.addTxns(Array(made.size).keys(), judged.withObserver, wholes)
    }
  } finally {
    ops.close()
  }
  return {
    order: orderOf(txnAt),
    failed,
    suspects: failed.length > 0 ? [cores, wholes] : [],
    isComplete: windows.every(({ isPiece }) => !isPiece),
  }
}

/** Bytes that the engine may need for a transaction: its operations, graphs, what reaches what. */
const BYTES_PER_TXN = 2048

/** Transactions that may be ordered at once. */
export function mostTxns({ sizes, sessions }: SpilledHistory): number {
  return Math.floor(sizes.windowBytes / (BYTES_PER_TXN + 8 * sessions.size))
}

interface JudgedWindow {
  readonly nodes: Int32Array | null // an order that can take the window's place
  readonly core: readonly number[] // nodes that show that there is none
  readonly withObserver: boolean
}

function judgeWindow(
  { level, tools }: StrongInput,
  window: WindowHistory,
  isWhole: boolean,
): JudgedWindow {
  const options = tools.check
  let withObserver = false
  let history = window.build(false)
  let result = judge(history, level, options)
  let nodes = orderIn(history, result, window.size)
  if (isWhole && nodes !== null && !window.keepsLast(nodes)) {
    withObserver = true
    history = window.build(true)
    result = judge(history, level, options)
    nodes = orderIn(history, result, window.size)
  }
  const core = result.anomalies.flatMap(({ txns }) => txns)
  return { nodes, core, withObserver }
}

function judge(history: History, level: StrongSpilledLevel, options: CheckOptions): LevelResult {
  // What comes of it is verified on disk, or on transactions of the file.
  const { budgetMs = null, budgetFromMs } = options
  const from = budgetFromMs === undefined ? {} : { budgetFromMs }
  const result = check(history, level, { certify: false, budgetMs, ...from })
  if (result.verdict !== 'unknown') return result
  throw new BudgetExceeded(result.reason ?? 'a stretch of the order could not be decided')
}

/** The order that proves a level, without the observer; null if it is violated. */
function orderIn(history: History, result: LevelResult, size: number): Int32Array | null {
  if (result.verdict === 'violated') return null
  const { proof } = result
  assert(proof?.kind === 'commit-order' || proof?.kind === 'snapshots', 'an order proves a level')
  const order =
    proof.kind === 'commit-order'
      ? proof.order
      : proof.events.filter((event) => event % 2 === 1).map((event) => (event - 1) / 2)
  assert(order.length === history.txnCount, 'an order has every transaction')
  return order.filter((node) => node < size)
}
