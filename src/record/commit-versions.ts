// Puts the order of commits, as a database's own log tells it, into a history that was recorded:
// the outcome of each transaction gets the place at which it was committed, which is the version of
// all it wrote (history/versions.ts). The file is made anew and takes the place of the other one
// when it is complete. Memory is that of the transactions in progress. Main: addCommitVersions.

import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { DatabaseError } from '../base/errors.ts'
import { openWhole } from '../files/write.ts'
import type { CommitLog } from './database.ts'

const PENDING = /^\{"pending":(\d+),/
const OUTCOME = /^\{"outcome":(\d+),"status":"(\w+)"/
/** The value of a write; the values of one transaction are committed at one place. */
const WRITE = /\["w",\d+,(\d+)\]/
const CHUNK_CHARS = 1 << 16

/** Throws DatabaseError if the log lacks what was acknowledged; the history is then as it was. */
export async function addCommitVersions(
  path: string,
  log: Pick<CommitLog, 'placeOf'>,
): Promise<void> {
  const whole = openWhole(path, true)
  try {
    const written = new Map<string, number>() // transaction in progress -> a value it wrote
    let text = ''
    for await (const line of createInterface({ input: createReadStream(path) })) {
      text += `${withVersion(line, written, log, path)}\n`
      if (text.length < CHUNK_CHARS) continue
      whole.write(Buffer.from(text))
      text = ''
    }
    whole.write(Buffer.from(text))
  } catch (error) {
    whole.abandon()
    throw error
  }
  whole.finish()
}

function withVersion(
  line: string,
  written: Map<string, number>,
  log: Pick<CommitLog, 'placeOf'>,
  path: string,
): string {
  const [, pending] = PENDING.exec(line) ?? []
  if (pending !== undefined) {
    const [, value] = WRITE.exec(line) ?? []
    if (value !== undefined) written.set(pending, Number(value))
    return line
  }
  const [, id, status] = OUTCOME.exec(line) ?? []
  const value = id === undefined ? undefined : written.get(id)
  if (id === undefined || value === undefined) return line
  written.delete(id)
  const place = log.placeOf(value)
  if (place !== null) return `${line.slice(0, -1)},"version":"${place}"}`
  if (status !== 'committed') return line
  throw new DatabaseError(
    `the server acknowledged transaction ${id}, and its log does not have it: there is no order of commits`,
    `judge what was recorded without one: isobar check ${path}`,
  )
}
