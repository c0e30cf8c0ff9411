// As much of `pg`'s Pool as a race needs: the application's own is used, whatever its version.

import { UsageError } from '../../base/errors.ts'

export interface RacePool {
  readonly options: { readonly max?: number }
  readonly Client: new (
    options: object,
  ) => {
    connect(): Promise<unknown>
    query(text: string, values?: unknown[]): Promise<Answer>
    end(): Promise<void>
    on(event: 'error', listener: (error: Error) => void): unknown
  }
  readonly totalCount: number
  connect(): Promise<QueryClient>
  query(text: string): Promise<unknown>
  on(event: string, listener: (...given: never[]) => void): unknown
  removeListener(event: string, listener: (...given: never[]) => void): unknown
}

interface Answer {
  readonly rows: readonly Record<string, unknown>[]
}

/** A connection that was taken from the pool. */
export interface QueryClient {
  query(text: string): Promise<Answer>
  release(): void
}

/** A connection that the pool has lent to somebody. */
export interface PoolClient {
  on(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
}

/** What `pg` takes when nothing is said. */
const USUAL_MAX = 10

/** Throws UsageError if it is no pool, or has fewer connections than there are actors. */
export function expectPool(pool: unknown, actorCount: number): RacePool {
  const given = pool as Partial<RacePool> | null | undefined
  if (typeof given?.connect !== 'function' || typeof given.Client !== 'function') {
    throw new UsageError(
      'race: the first argument is not a pool of pg',
      'hand over the pool that the application itself uses: race(pool, { ann: …, bob: … })',
    )
  }
  const max = given.options?.max ?? USUAL_MAX
  if (max < actorCount) {
    throw new UsageError(
      `race: the pool has room for ${max} of ${actorCount} actors`,
      `each needs a connection of its own: new Pool({ max: ${actorCount} }), or more`,
    )
  }
  return given as RacePool
}

/** Opens as many connections as there are actors, so that none has to wait for one to be made. */
export async function warm(pool: RacePool, actorCount: number): Promise<void> {
  const clients = await Promise.all(Array.from({ length: actorCount }, () => pool.connect()))
  for (const client of clients) client.release()
}

/** Does something on every connection that the pool has; nobody may be using one. */
export async function withAll(
  pool: RacePool,
  act: (client: QueryClient) => Promise<unknown>,
): Promise<void> {
  const clients = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()))
  try {
    for (const client of clients) await act(client)
  } finally {
    for (const client of clients) client.release()
  }
}
