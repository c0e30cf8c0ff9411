// How stale a read may be, as users write it behind `stale:`: a number of versions, or a time with
// its unit. Main functions: readBound, parseBound.

import { UsageError } from '../base/errors.ts'

/** At most so many versions behind, or at most so long. */
export type StaleBound =
  | { readonly kind: 'versions'; readonly count: number }
  | { readonly kind: 'time'; readonly amount: string; readonly unit: BoundUnit }

export type BoundUnit = 'ns' | 'us' | 'ms' | 's'

const UNITS: Readonly<Record<string, readonly [factor: bigint, unit: BoundUnit]>> = {
  ns: [1n, 'ns'],
  us: [1n, 'us'],
  µs: [1n, 'us'],
  ms: [1n, 'ms'],
  s: [1n, 's'],
  m: [60n, 's'],
  h: [3600n, 's'],
}

/** A bound as readBound leaves it. */
export const BOUND_PATTERN = '^\\d{1,15}(?:(?:\\.\\d{1,15})?(?:ns|us|µs|ms|s|m|h))?$'

/** What is written behind the colon, if it is a bound. Throws UsageError. */
export function readBound(text: string): string {
  const written = text.trim().toLowerCase()
  parseBound(written)
  return written
}

/** What a bound says; a time as a decimal, exactly. Throws UsageError. */
export function parseBound(text: string): StaleBound {
  const [, whole = '', fraction = '', word] =
    /^(\d{1,15})(?:\.(\d{1,15}))?(\p{L}*)$/u.exec(text) ?? []
  const [factor, unit] = UNITS[word ?? ''] ?? []
  if (whole !== '' && word === '' && fraction === '')
    return { kind: 'versions', count: Number(whole) }
  if (whole === '' || factor === undefined || unit === undefined) {
    throw new UsageError(
      `${JSON.stringify(text)} is no bound of staleness`,
      'stale:3 is at most 3 versions behind, stale:5s at most 5 seconds (ns, us, ms, s, m, h)',
    )
  }
  const digits = BigInt(whole + fraction) * factor
  return {
    kind: 'time',
    amount: fraction === '' ? `${digits}` : `${digits}e-${fraction.length}`,
    unit,
  }
}
