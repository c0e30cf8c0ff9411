// A level of a file by the order in which it stands, without cutting it up: two passes over the
// text, one that decides and one that verifies. Where that order is not right, or anything is
// unusual, nothing is said, and the file is judged bucket by bucket. Main function: judgeStream.

import { nowMs } from '../../base/deadline.ts'
import { InputError, InternalError } from '../../base/errors.ts'
import type { PlainFile } from '../../formats/pieces.ts'
import { certifyStream } from '../../spill/certify-stream.ts'
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
    const { stream, violation, stale } = decide(file, level, sizes, options)
    const decidedMs = nowMs() - started
    const isSatisfied = violation === null
    const isCertified = isSatisfied && (options.certify ?? true)
    if (isCertified && !certify(file, level, sizes, options, stream)) return null
    const elapsedMs = nowMs() - started
    const isTold = isSatisfied && options.prove
    const result: LevelResult = {
      level,
      verdict: isSatisfied ? 'satisfied' : 'violated',
      reason: null,
      impliedBy: null,
      algorithm: 'on disk',
      elapsedMs,
      stages: { decide: decidedMs, certify: elapsedMs - decidedMs },
      anomalies: [],
      proof: isTold ? tellProof(level, orderedTxns(stream, sizes), FILE_ORDER, stale) : null,
      certificate: isCertified ? { kind: certificateKind(level), verified: true } : null,
    }
    const decision: Decision = isSatisfied
      ? { verdict: 'satisfied', order: FILE_ORDER, stale }
      : { verdict: 'violated', offences: [], txns: violation }
    return { decision, result, stream }
  } catch (error) {
    if (error instanceof NotStreamed) return null
    throw error
  }
}

function decide(
  file: PlainFile,
  level: SpilledLevel,
  sizes: SpillSizes,
  { memoryBytes, onStep }: StreamOptions,
) {
  const stream = new FileStream(file, sizes)
  const sweep = new StreamSweep(level, sizes)
  const onProgress = (readBytes: number) => onStep?.('streaming', readBytes, file.sizeBytes)
  for (const piece of stream.read(memoryBytes, onProgress)) {
    sweep.take(piece, stream.keys.size, stream.keys.sizeBytes)
  }
  sweep.finish()
  return { stream, violation: sweep.violation, stale: sweep.stale }
}

/** Whether the order could be verified. Throws InternalError where it proves nothing. */
function certify(
  file: PlainFile,
  level: SpilledLevel,
  sizes: SpillSizes,
  { memoryBytes, onStep }: StreamOptions,
  decided: FileStream,
): boolean {
  const stream = new FileStream(file, sizes)
  const onProgress = (readBytes: number) => onStep?.('replaying', readBytes, file.sizeBytes)
  const pieces = stream.read(memoryBytes, onProgress)
  const { problem, isComplete } = certifyStream(stream, pieces, level, sizes.windowBytes)
  if (!isComplete) return false
  if (problem !== null) {
    const what = `the verdict 'satisfied' of ${level} failed its own certificate`
    throw new InternalError(`${what}: ${problem}`)
  }
  if (stream.txnCount === decided.txnCount && stream.opCount === decided.opCount) return true
  throw new InputError('changed', 'the file changed while it was read', null, 'judge a copy of it')
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
