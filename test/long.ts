// How much of the long tests is run: continuous integration takes all (`ISOBAR_LONG=1 npm test`), a
// plain `npm test` a part, so that it ends while one still waits for it.

export const LONG = process.env['ISOBAR_LONG'] === '1'

/** As many as asked for where there is time, a quarter otherwise, or another part. */
export const some = (count: number, part = 4): number => (LONG ? count : Math.ceil(count / part))

/** All of them where there is time, otherwise each n-th, the first among them. */
export function sample<T>(all: readonly T[], nth: number): T[] {
  return all.filter((_, i) => LONG || i % nth === 0)
}
