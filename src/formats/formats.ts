// Every format, as it is read and as it is written. Bundlers keep what only reads (parse.ts) apart
// from it.

import { type FormatReader, READERS } from './readers.ts'
import { type FormatWriter, WRITERS } from './writers.ts'

export interface Format extends FormatReader, FormatWriter {}

// Pure, so that who does not refer to it does not get it.
export const FORMATS: readonly Format[] = /* @__PURE__ */ READERS.map((reader) => ({
  ...reader,
  ...WRITERS[reader.id],
}))

export function findFormat(id: string): Format | null {
  return FORMATS.find((format) => format.id === id) ?? null
}
