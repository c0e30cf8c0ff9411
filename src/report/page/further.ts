// What a report offers of a finding beside words and pictures: its transactions as files, and as
// SQL to type into terminals. Pages of small examples do without, and so do their scripts. Main
// table: FURTHER.

import { findMisfits } from '../../formats/fit.ts'
import { jepsenMisfits, writeJepsen } from '../../formats/jepsen/write.ts'
import { writeNative } from '../../formats/native/write.ts'
import { PLUME, writePlume } from '../../formats/plume/write.ts'
import type { Sink } from '../../formats/sink.ts'
import type { History } from '../../history/history.ts'
import type { Extra } from '../core-history.ts'
import { buildSqlCore } from '../sql-core.ts'
import { renderSqlScript } from '../sql-script.ts'

/** As the table of all formats has them, without what reads them: pages would carry all parsers. */
export interface Download {
  readonly name: string
  readonly ending: string
  write(history: History, sink: Sink): void
  misfits(history: History): string[]
  /** What may be left out, so that it holds the rest. */
  readonly omit: readonly Extra[]
}

const NATIVE: Download = {
  ...{ name: 'native JSON Lines', ending: 'jsonl', write: writeNative },
  ...{ misfits: () => [], omit: [] },
}
const DOWNLOADS: Further['formats'] = [
  NATIVE,
  {
    ...{ name: 'Plume text', ending: 'plume', write: writePlume },
    ...{ misfits: (history: History) => findMisfits(history, PLUME), omit: ['times', 'levels'] },
  },
  {
    ...{ name: 'Jepsen EDN', ending: 'edn', write: writeJepsen },
    ...{ misfits: jepsenMisfits, omit: ['names', 'levels'] },
  },
]

export interface Further {
  /** Our own format, which holds everything, first. */
  readonly formats: readonly [Download, ...Download[]]
  readonly buildSqlCore: typeof buildSqlCore
  readonly renderSqlScript: typeof renderSqlScript
}

export const FURTHER: Further = { formats: DOWNLOADS, buildSqlCore, renderSqlScript }
