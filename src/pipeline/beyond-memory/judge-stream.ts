// A level of a file by the order in which it stands, without cutting it up: in one pass over the
// text, by one who decides and one who verifies, neither of whom knows of the other. Where that
// order is not right, or anything is unusual, nothing is said, and the file is judged bucket by
// bucket. Main function: judgeStream.

import { nowMs } from '../../base/deadline.ts'
import { InternalError } from '../../base/errors.ts'
import type { PlainFile } from '../../formats/pieces.ts'
import { StreamReplay } from '../../spill/certify-stream.ts'
import { FILE_ORDER } from '../../spill/commit-order.ts'
import { FileStream, NotStreamed } from '../../spill/file-stream.ts'
import type { SpillSizes } from '../../spill/spilled-history.ts'
import type { LevelResult } from '../../verdict/verdict.ts'
import type { HistoryCounts } from '../../verdict/verdict-file.ts'
import type { Decision } from './decision.ts'
import type { SpilledLevel } from './levels.ts'
import { StreamSweep } from './stream-sweep.ts'
import { certificateKind, type OrderedTxns, tellProof } from './tell-order.ts'

export interface Streamed {
  readonly decision: Decision // satisfied by the file's order, or violated
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
  try {
    const judged = stream(file, level, sizes, options)
    if (judged === null) return null
    const { stream: read, violation, stale, isCertified, certifyMs } = judged
    const elapsedMs = nowMs() - started
    const isSatisfied = violation === null
    const isTold = isSatisfied && options.prove
    const result: LevelResult = {
      level,
      verdict: isSatisfied ? 'satisfied' : 'violated',
      reason: null,
      impliedBy: null,
      algorithm: 'on disk',
      elapsedMs,
      stages: { decide: elapsedMs - certifyMs, certify: certifyMs },
      anomalies: [],
      proof: isTold ? tellProof(level, orderedTxns(read, sizes), FILE_ORDER, stale) : null,
      certificate: isCertified ? { kind: certificateKind(level), verified: true } : null,
    }
    const decision: Decision = isSatisfied
      ? { verdict: 'satisfied', order: FILE_ORDER, stale }
      : { verdict: 'violated', offences: [], txns: violation }
    return { decision, result, stream: read }
  } catch (error) {
    if (error instanceof NotStreamed) return null
    throw error
  }
}

/** Null if the order proves the level, but that could not be verified. */
function stream(
  file: PlainFile,
  level: SpilledLevel,
  sizes: SpillSizes,
  { memoryBytes, onStep, certify = true }: StreamOptions,
) {
  const read = new FileStream(file, sizes)
  const sweep = new StreamSweep(level, sizes)
  const replay = certify ? new StreamReplay(level, sizes.windowBytes) : null
  let [isReplayed, certifyMs] = [replay !== null, 0]
  const onProgress = (readBytes: number) => onStep?.('streaming', readBytes, file.sizeBytes)
  for (const piece of read.read(memoryBytes, onProgress)) {
    sweep.take(piece, read.keys.size, read.keys.sizeBytes)
    // A violation is verified by those who show it.
    if (!isReplayed || sweep.violation !== null) continue
    const before = nowMs()
    isReplayed = replay!.take(piece, read.keys.size)
    certifyMs += nowMs() - before
  }
  sweep.finish()
  const { violation, stale } = sweep
  const isCertified = violation === null && replay !== null
  if (isCertified) {
    const { problem, isComplete } = replay.finish()
    if (!isComplete) return null
    if (problem !== null) {
      const what = `the verdict 'satisfied' of ${level} failed its own certificate`
      throw new InternalError(`${what}: ${problem}`)
    }
  }
  return { stream: read, violation, stale, isCertified, certifyMs }
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
