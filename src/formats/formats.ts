// Every format, as it is read and as it is written. Bundlers keep what only reads (parse.ts) apart
// from it.

import { type FormatReader, READERS } from './readers.ts'
import { type FormatWriter, WRITERS } from './writers.ts'

/** A format of histories: how it is told from others, read and written. */
export interface Format extends FormatReader, FormatWriter {}

// Pure, so that who does not refer to it does not get it.
/** All formats that are read and written. */
export const FORMATS: readonly Format[] = /* @__PURE__ */ READERS.map((reader) => ({
  ...reader,
  ...WRITERS[reader.id],
}))

export function findFormat(id: string): Format | null {
  return FORMATS.find((format) => format.id === id) ?? null
}
