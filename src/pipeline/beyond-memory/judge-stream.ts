// A level of a file by the order in which it stands, without cutting it up: in one pass over the
// text, by one who decides and one who verifies, neither of whom knows of the other. Where that
// order is not right, or anything is unusual, nothing is said, and the file is judged bucket by
// bucket. Main functions: judgeStream, StreamJudge.

import { nowMs } from '../../base/deadline.ts'
import { InternalError } from '../../base/errors.ts'
import type { PlainFile } from '../../formats/pieces.ts'
import { StreamReplay } from '../../spill/certify-stream.ts'
import { type CommitOrder, FILE_ORDER } from '../../spill/commit-order.ts'
import { FileStream, NotStreamed, type StreamPiece } from '../../spill/file-stream.ts'
import type { SpillSizes } from '../../spill/spilled-history.ts'
import type { LevelResult } from '../../verdict/verdict.ts'
import type { HistoryCounts } from '../../verdict/verdict-file.ts'
import type { Decision } from './decision.ts'
import type { SpilledLevel } from './levels.ts'
import type { StaleReads } from './stale-reads.ts'
import { StreamSweep } from './stream-sweep.ts'
import { certificateKind, type OrderedTxns, tellProof } from './tell-order.ts'

export interface Streamed {
  readonly decision: Decision // satisfied by an order, or violated
  readonly result: LevelResult
  readonly stream: FileStream
}

export interface StreamOptions {
  readonly memoryBytes: number
  readonly certify?: boolean
  readonly prove?: boolean
  readonly onStep?: (phase: string, done: number, all: number) => void
}

/** Null if the file's order does not tell at once. Throws InputError. */
export function judgeStream(
  file: PlainFile,
  level: SpilledLevel,
  sizes: SpillSizes,
  options: StreamOptions,
): Streamed | null {
  const started = nowMs()
  const read = new FileStream(file, sizes)
  const judged = new StreamJudge(level, sizes, options)
  const onProgress = (readBytes: number) => {
    options.onStep?.('streaming', readBytes, file.sizeBytes)
  }
  try {
    for (const piece of read.read(options.memoryBytes, onProgress)) {
      judged.take(piece, read.keys.size, read.keys.sizeBytes)
    }
    if (!judged.finish()) return null
  } catch (error) {
    if (error instanceof NotStreamed) return null
    throw error
  }
  return tellStreamed(judged, FILE_ORDER, read, sizes, { ...options, started })
}

interface JudgeOptions {
  readonly certify?: boolean | undefined
  /** Whether the order is one of sessions side by side: of each key, more versions are kept. */
  readonly isMerged?: boolean
}

/** Who decides and who verifies, side by side. */
export class StreamJudge {
  certifyMs = 0
  private readonly sweep: StreamSweep
  private readonly replay: StreamReplay | null
  private isReplayed: boolean

  constructor(
    readonly level: SpilledLevel,
    sizes: SpillSizes,
    { certify = true, isMerged = false }: JudgeOptions,
  ) {
    this.sweep = new StreamSweep(level, sizes, isMerged)
    this.replay = certify ? new StreamReplay(level, sizes.windowBytes, isMerged) : null
    this.isReplayed = certify
  }

  get violation(): ReadonlySet<number> | null {
    return this.sweep.violation
  }

  get stale(): StaleReads {
    return this.sweep.stale
  }

  get isCertified(): boolean {
    return this.violation === null && this.replay !== null
  }

  /** Throws NotStreamed. @param keysBytes what their names take */
  take(piece: StreamPiece, keyCount: number, keysBytes: number): void {
    const { sweep, replay } = this
    sweep.take(piece, keyCount, keysBytes)
    // A violation is verified by those who show it.
    if (!this.isReplayed || sweep.violation !== null) return
    const before = nowMs()
    this.isReplayed = replay!.take(piece, keyCount)
    this.certifyMs += nowMs() - before
  }

  /** All was taken. False if the order proves the level, but that could not be verified. */
  finish(): boolean {
    this.sweep.finish()
    if (!this.isCertified) return true
    const { problem, isComplete } = this.replay!.finish()
    if (!isComplete) return false
    if (problem !== null) {
      const what = `the verdict 'satisfied' of ${this.level} failed its own certificate`
      throw new InternalError(`${what}: ${problem}`)
    }
    return true
  }
}

/** @param order in which transactions were told */
export function tellStreamed(
  { level, violation, stale, isCertified, certifyMs }: StreamJudge,
  order: CommitOrder,
  stream: FileStream,
  sizes: SpillSizes,
  { prove, started }: { readonly prove?: boolean; readonly started: number },
): Streamed {
  const elapsedMs = nowMs() - started
  const isTold = violation === null && prove
  const result: LevelResult = {
    level,
    verdict: violation === null ? 'satisfied' : 'violated',
    reason: null,
    impliedBy: null,
    algorithm: 'on disk',
    elapsedMs,
    stages: { decide: elapsedMs - certifyMs, certify: certifyMs },
    anomalies: [],
    proof: isTold ? tellProof(level, orderedTxns(stream, sizes), order, stale) : null,
    certificate: isCertified ? { kind: certificateKind(level), verified: true } : null,
  }
  if (violation === null) {
    return { decision: { verdict: 'satisfied', order, stale }, result, stream }
  }
  const txns = new Set([...violation].map((at) => (order.txnAt === null ? at : order.txnAt[at]!)))
  return { decision: { verdict: 'violated', offences: [], txns }, result, stream }
}

function orderedTxns({ txnCount, aborted }: FileStream, { windowBytes }: SpillSizes): OrderedTxns {
  const others = new Set(aborted.view())
  return { txnCount, mostBytes: windowBytes, doesCount: (txn) => !others.has(txn) }
}

export function countStreamed({
  sessions,
  txnCount,
  aborted,
  opCount,
  keys,
}: FileStream): HistoryCounts {
  return {
    sessions: sessions.size,
    transactions: txnCount,
    committed: txnCount - aborted.length,
    aborted: aborted.length,
    indeterminate: 0,
    operations: opCount,
    keys: keys.size,
  }
}
