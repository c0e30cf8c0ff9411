// Connecting to a database that may be away for a while, or that lets us in and then says nothing.
// Main functions: openPatiently, withinPatience, cutBy.

import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseError } from '../base/errors.ts'
import type { Connection, Database } from './database.ts'

/** What a try may take at least. */
export const LAST_TRY_MS = 1000

/**
 * Tries until it is let in, or patience has run out: DatabaseError. Null if there is no point in
 * going on.
 */
export async function openPatiently(
  place: Pick<Database, 'open'>,
  patienceMs: number,
  isOver: () => boolean = () => false,
): Promise<Connection | null> {
  const endMs = performance.now() + patienceMs
  for (let waitMs = 5; !isOver(); waitMs = Math.min(500, waitMs * 2)) {
    try {
      // One that lets us in and says nothing is as good as away.
      const leftMs = Math.max(LAST_TRY_MS, endMs - performance.now())
      return await withinPatience(leftMs, (signal) => place.open(signal))
    } catch (error) {
      if (error instanceof NoAnswer) throw new DatabaseError(`the database gives ${error.message}`)
      if (!(error instanceof DatabaseError) || performance.now() > endMs) throw error
    }
    await pause(waitMs)
  }
  return null
}

/** Nobody said anything, in time. */
class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  readonly code = 'ETIMEDOUT'
}

/** Does work that ends, without an answer, when the signal is aborted: when patience runs out. */
export async function withinPatience<T>(
  patienceMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController()
  const seconds = Math.round(patienceMs / 100) / 10
  const timer = setTimeout(
    () => late.abort(new NoAnswer(`no answer within ${seconds} s`)),
    Math.max(0, patienceMs),
  )
  try {
    return await work(late.signal)
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Works on a connection that is cut when the signal is aborted, or the work fails. Throws why.
 * A connection that is cut while it is made may never say so: whoever waits is told here.
 */
export async function cutBy<T>(
  signal: AbortSignal | null,
  cut: () => unknown,
  work: () => Promise<T>,
): Promise<T> {
  let onAbort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      cut()
      reject(signal!.reason)
    }
  })
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    signal?.throwIfAborted()
    return await Promise.race([work(), aborted])
  } catch (error) {
    if (!signal?.aborted) cut()
    throw signal?.aborted ? signal.reason : error
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}
