// A change to how an application uses the database, made from outside for a race or two: every
// transaction at SERIALIZABLE, tried again when it is refused, or FOR UPDATE behind a SELECT. What
// was changed on the pool is put back. Main functions: serializable, forUpdate.

import type { Actor } from './play.ts'
import { type QueryClient, type RacePool, withAll } from './pool.ts'
import type { Isolation } from './statements.ts'

export interface Treatment {
  /** In the words of a report. */
  readonly name: string
  /** The level of transactions that do not ask for one; null: as the server has it. */
  readonly usualLevel: Isolation | null
  /** How often an actor was run again because the database refused it. */
  readonly retries: () => number
  readonly actor: (actor: Actor) => Actor
  /** Changes the pool; what it returns puts it back. */
  readonly begin: (pool: RacePool) => Promise<() => Promise<void>>
  /** What is asked for in place of a statement. */
  readonly rewrite: ((text: string) => string) | null
}

const REFUSALS = new Set(['40001', '40P01'])
/** Nobody is refused more often than that by others who come to an end. */
const MAX_RETRIES = 20

export function serializable(): Treatment {
  let retries = 0
  const actor = (own: Actor) => async () => {
    for (let tries = 0; ; tries++) {
      try {
        return await own()
      } catch (error) {
        if (tries === MAX_RETRIES || !REFUSALS.has(String(codeOf(error)))) throw error
        retries++
      }
    }
  }
  return {
    name: 'SERIALIZABLE, and trying again when the database refuses',
    usualLevel: 'serializable',
    retries: () => retries,
    actor,
    begin: async (pool) => {
      const levels = new Map<QueryClient, string>() // connection -> what it had before
      const set = (client: QueryClient, level: string) =>
        client.query(`SET default_transaction_isolation = '${level}'`)
      const setLater = (client: QueryClient) => {
        set(client, 'serializable').catch(() => {}) // the statement behind it fails, and says why
      }
      pool.on('connect', setLater)
      await withAll(pool, async (client) => {
        const { rows } = await client.query('SHOW default_transaction_isolation')
        levels.set(client, String(rows[0]!['default_transaction_isolation']))
        await set(client, 'serializable')
      })
      return async () => {
        pool.removeListener('connect', setLater)
        await withAll(pool, (client) => {
          const level = levels.get(client)
          if (level !== undefined) return set(client, level)
          return client.query('RESET default_transaction_isolation')
        })
      }
    },
    rewrite: null,
  }
}

/** @param statement a SELECT of the application's */
export function forUpdate(statement: string): Treatment {
  const locked = `${statement.replace(/[\s;]+$/, '')} FOR UPDATE`
  return {
    name: `FOR UPDATE behind ${statement.replace(/\s+/g, ' ').trim()}`,
    usualLevel: null,
    retries: () => 0,
    actor: (own) => own,
    begin: async () => async () => {},
    rewrite: (text) => (text === statement ? locked : text),
  }
}

function codeOf(error: unknown): unknown {
  // Libraries above the driver keep its error as the cause of their own.
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } }
  return REFUSALS.has(String(code)) ? code : cause?.code
}

interface Queryable {
  query(...given: unknown[]): unknown
  connect?(...given: unknown[]): unknown
}

/** Rewrites what is asked of a pool's clients; what it returns ends that. */
export function rewriteQueries(pool: RacePool, rewrite: (text: string) => string): () => void {
  const undo: (() => void)[] = []
  const seen = new Set<Queryable>()
  const patch = (
    owner: Queryable,
    name: 'query' | 'connect',
    own: (...given: unknown[]) => unknown,
  ) => {
    const before = Object.getOwnPropertyDescriptor(owner, name)
    owner[name] = own
    undo.push(() => {
      if (before) Object.defineProperty(owner, name, before)
      else delete (owner as Partial<Queryable>)[name]
    })
  }
  const take = (client: Queryable): Queryable => {
    if (seen.has(client)) return client
    seen.add(client)
    const query = client.query
    patch(client, 'query', (...given) => query.apply(client, rewritten(given, rewrite)))
    return client
  }
  const owner = pool as unknown as Queryable
  const connect = owner.connect!
  patch(owner, 'connect', (...given) => {
    const [callback] = given
    if (typeof callback !== 'function') return (connect.call(pool) as Promise<Queryable>).then(take)
    return connect.call(pool, (error: unknown, client: Queryable | undefined, done: unknown) => {
      if (client) take(client)
      callback(error, client, done)
    })
  })
  return () => {
    for (const each of undo.reverse()) each()
  }
}

/** The text of a statement may stand by itself, or in what describes the statement. */
function rewritten(given: unknown[], rewrite: (text: string) => string): unknown[] {
  const [first, ...others] = given
  if (typeof first === 'string') return [rewrite(first), ...others]
  const { text } = (first ?? {}) as { text?: unknown }
  if (typeof text !== 'string' || rewrite(text) === text) return given
  const copy = Object.assign(Object.create(Object.getPrototypeOf(first)), first, {
    text: rewrite(text),
  })
  return [copy, ...others]
}
