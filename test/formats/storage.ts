// Histories as files in memory: written, cut into chunks, damaged, read back.

import type { Format } from '../../src/formats/formats.ts'
import { parseHistory, parseHistoryFiles } from '../../src/formats/parse.ts'
import type { History } from '../../src/history/history.ts'

/** The history as files: one of no name, or those of a directory. */
export function save(format: Format, history: History): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>()
  const open = (name: string) => {
    files.set(name, new Uint8Array(0))
    return (bytes: Uint8Array) => files.set(name, Buffer.concat([files.get(name)!, bytes]))
  }
  if (format.writeFiles) format.writeFiles(history, open)
  else format.write(history, open(''))
  return files
}

export function load(format: Format, files: Map<string, Uint8Array>, size = 1 << 20): History {
  if (!format.writeFiles) return parseHistory(cut(files.get('')!, size), { format: format.id })
  const list = Array.from(files, ([name, bytes]) => ({ name, chunks: cut(bytes, size) }))
  return parseHistoryFiles(list.reverse(), format)
}

export function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  const chunks: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.slice(at, at + size))
  return chunks
}

/** Bytes replaced, left out, or put in. */
export function mutate(
  bytes: Uint8Array,
  edits: readonly (readonly [number, number, number])[],
): Uint8Array {
  const out = Array.from(bytes)
  for (const [at, byte, way] of edits) {
    out.splice(at % (out.length + 1), way === 2 ? 0 : 1, ...(way === 1 ? [] : [byte]))
  }
  return Uint8Array.from(out)
}
