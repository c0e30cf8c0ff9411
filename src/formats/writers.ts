// How each format is written, and what it cannot hold, in one table.

import { UsageError } from '../base/errors.ts'
import type { History } from '../history/history.ts'
import { awditMisfits, writeAwdit } from './awdit/write.ts'
import { cobraMisfits, writeCobra } from './cobra/write.ts'
import { dbcopMisfits, writeDbcop } from './dbcop/write.ts'
import { dbcopJsonMisfits, writeDbcopJson } from './dbcop-json/write.ts'
import { histMisfits, writeHist } from './hist/write.ts'
import { jepsenMisfits, writeJepsen, writeJepsenJson } from './jepsen/write.ts'
import { writeNative } from './native/write.ts'
import { notationMisfits, writeNotation } from './notation/write.ts'
import { plumeMisfits, writePlume } from './plume/write.ts'
import type { FormatId } from './readers.ts'
import type { Sink } from './sink.ts'
import { viperMisfits, writeViper } from './viper/write.ts'

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

export const WRITERS: Readonly<Record<FormatId, FormatWriter>> = {
  native: {
    extensions: ['jsonl', 'ndjson', 'isobar'],
    write: writeNative,
    misfits: () => [],
  },
  notation: {
    extensions: ['notation'],
    write: writeNotation,
    misfits: notationMisfits,
  },
  plume: {
    extensions: ['plume', 'txt'],
    write: writePlume,
    misfits: plumeMisfits,
  },
  awdit: {
    extensions: ['awdit'],
    write: writeAwdit,
    misfits: awditMisfits,
  },
  cobra: {
    extensions: [],
    write: refuseStream,
    writeFiles: writeCobra,
    misfits: cobraMisfits,
  },
  dbcop: {
    extensions: ['bincode'],
    write: writeDbcop,
    misfits: dbcopMisfits,
  },
  'dbcop-json': {
    extensions: ['json'],
    write: writeDbcopJson,
    misfits: dbcopJsonMisfits,
  },
  hist: {
    extensions: ['hist'],
    write: writeHist,
    misfits: histMisfits,
  },
  viper: {
    extensions: [],
    write: refuseStream,
    writeFiles: writeViper,
    misfits: viperMisfits,
  },
  jepsen: {
    extensions: ['edn'],
    write: writeJepsen,
    misfits: jepsenMisfits,
  },
  'jepsen-json': {
    extensions: [],
    write: writeJepsenJson,
    misfits: jepsenMisfits,
  },
}

function refuseStream(): never {
  throw new UsageError('this format is a directory', 'name a directory to write to')
}
