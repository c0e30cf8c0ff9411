// What PostgreSQL has said, whichever library has told the application of it. Main function:
// codesOf.

/** Codes of libraries' own that stand for one of PostgreSQL's. */
const MEANING: ReadonlyMap<unknown, string> = new Map([
  ['P2034', '40001'], // Prisma: a write conflict or a deadlock
  ['P2002', '23505'], // Prisma: a unique constraint
])

/** Where libraries above the driver keep its error. */
const INSIDE = ['cause', 'parent', 'original', 'driverError', 'meta', 'driverAdapterError']
const MAX_DEPTH = 4

/** Every code that an error carries, or one inside of it. */
export function codesOf(error: unknown, depth = 0): string[] {
  if (typeof error !== 'object' || error === null || depth > MAX_DEPTH) return []
  const held = error as Record<string, unknown>
  const own = [held['code'], held['originalCode'], MEANING.get(held['code'])]
  const codes = own.filter((code) => typeof code === 'string')
  return [...codes, ...INSIDE.flatMap((name) => codesOf(held[name], depth + 1))]
}
