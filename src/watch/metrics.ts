// What a watcher knows of itself, as text that Prometheus reads. Main function: renderMetrics.

import type { Watcher } from './watcher.ts'

/** What the watcher itself cannot know: it has no clock. */
export interface Measured {
  /** Bytes of the input that were read. */
  readonly readBytes: number
  /** How long what has not been judged has been waiting. */
  readonly lagSeconds: number
  readonly alarms: number
}

const VERDICTS = ['satisfied', 'violated', 'unknown'] as const

export function renderMetrics(watcher: Watcher, measured: Measured): string {
  const verdicts = watcher.states.flatMap(({ level, verdict }) =>
    VERDICTS.map((name) => [`{level="${level}",verdict="${name}"}`, verdict === name ? 1 : 0]),
  ) as [string, number][]
  const metrics: [name: string, type: string, help: string, samples: [string, number][]][] = [
    ['verdict', 'gauge', 'What is known of a level so far.', verdicts],
    ['alarms_total', 'counter', 'Levels that were found violated.', [['', measured.alarms]]],
    ['transactions_total', 'counter', 'Transactions that were judged.', [['', watcher.judgedTxns]]],
    [
      'settled_transactions_total',
      'counter',
      'Transactions that were let go: what is said of them is final.',
      [['', watcher.settled.txnCount]],
    ],
    [
      'waiting_transactions',
      'gauge',
      'Transactions whose reads have no writer yet, and those behind them.',
      [['', watcher.waitingTxns]],
    ],
    [
      'lateness_transactions',
      'gauge',
      'How many transactions a writer came after its reader at most.',
      [['', watcher.latenessTxns]],
    ],
    ['keys', 'gauge', 'Keys that were met.', [['', watcher.settled.keyCount]]],
    ['window_bytes', 'gauge', 'Text that is held.', [['', watcher.window.byteCount]]],
    ['unjudged_bytes', 'gauge', 'Text that was read and not judged.', [['', watcher.newBytes]]],
    ['read_bytes_total', 'counter', 'Text that was read.', [['', measured.readBytes]]],
    ['lag_seconds', 'gauge', 'How long that has been waiting.', [['', measured.lagSeconds]]],
  ]
  return metrics
    .map(([name, type, help, samples]) => {
      const lines = samples.map(([labels, value]) => `isobar_watch_${name}${labels} ${value}`)
      const head = [`# HELP isobar_watch_${name} ${help}`, `# TYPE isobar_watch_${name} ${type}`]
      return [...head, ...lines, ''].join('\n')
    })
    .join('')
}
