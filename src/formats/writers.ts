// How each format is written, and what it cannot hold, in one table.

import { UsageError } from '../base/errors.ts'
import type { History } from '../history/history.ts'
import { AWDIT, writeAwdit } from './awdit/write.ts'
import { COBRA, writeCobra } from './cobra/write.ts'
import { DBCOP, writeDbcop } from './dbcop/write.ts'
import { writeDbcopJson } from './dbcop-json/write.ts'
import { type Capacity, findMisfits, PLAIN } from './fit.ts'
import { HIST, writeHist } from './hist/write.ts'
import { jepsenMisfits, writeJepsen, writeJepsenJson } from './jepsen/write.ts'
import { writeNative } from './native/write.ts'
import { notationMisfits, writeNotation } from './notation/write.ts'
import { PLUME, writePlume } from './plume/write.ts'
import type { FormatId } from './readers.ts'
import type { Sink } from './sink.ts'
import { VIPER, writeViper } from './viper/write.ts'

/** What writes a format. */
export interface FormatWriter {
  /** File name endings, without the dot; used only to choose a format for writing. */
  readonly extensions: readonly string[]
  /**
   * Writes what the format can hold of the history.
   * @param opOrder operations in the order of their lines, where each has a line of its own.
   */
  write(history: History, sink: Sink, opOrder?: Int32Array | null): void
  /** Writes those files one after another, each into the sink that `open` gives for its name. */
  writeFiles?(history: History, open: (name: string) => Sink): void
  /** Reasons why the history would not come back the same; empty if it would. */
  misfits(history: History): string[]
}

/** A format that holds what its capacity says. */
function within(capacity: Capacity): Pick<FormatWriter, 'misfits'> {
  return { misfits: (history) => findMisfits(history, capacity) }
}

/** A format that is a directory. */
function inFiles(
  capacity: Capacity,
  writeFiles: NonNullable<FormatWriter['writeFiles']>,
): FormatWriter {
  return { extensions: [], write: refuseStream, writeFiles, ...within(capacity) }
}

export const WRITERS: Readonly<Record<FormatId, FormatWriter>> = {
  native: { extensions: ['jsonl', 'ndjson', 'isobar'], write: writeNative, misfits: () => [] },
  notation: { extensions: ['notation'], write: writeNotation, misfits: notationMisfits },
  plume: { extensions: ['plume', 'txt'], write: writePlume, ...within(PLUME) },
  awdit: { extensions: ['awdit'], write: writeAwdit, ...within(AWDIT) },
  cobra: inFiles(COBRA, writeCobra),
  dbcop: { extensions: ['bincode'], write: writeDbcop, ...within(DBCOP) },
  'dbcop-json': { extensions: ['json'], write: writeDbcopJson, ...within(PLAIN) },
  hist: { extensions: ['hist'], write: writeHist, ...within(HIST) },
  viper: inFiles(VIPER, writeViper),
  jepsen: { extensions: ['edn'], write: writeJepsen, misfits: jepsenMisfits },
  'jepsen-json': { extensions: [], write: writeJepsenJson, misfits: jepsenMisfits },
}

function refuseStream(): never {
  throw new UsageError('this format is a directory', 'name a directory to write to')
}
