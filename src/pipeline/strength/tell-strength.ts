// How strong a test was, in words. Main functions: tellStrength, tellOccasions.

import type { Strength } from './measure-strength.ts'
import { OCCASIONS, type Occasion } from './occasions.ts'

/** A line for each kind of occasion, the most frequent first, after one on all reads. */
export function tellStrength(strength: Strength): string[] {
  const { isTimed, reads, racedReads, isLeast } = strength
  const share = reads === 0 ? 0 : Math.round((100 * racedReads) / reads)
  const when = isTimed ? 'at the same time' : 'in another session, at whatever time'
  const lines = [
    `${isLeast ? 'at least ' : ''}${racedReads} of ${reads} reads (${share} %) were of a key that another transaction wrote ${when}`,
    isTimed
      ? 'occasions for anomalies: pairs of transactions, aborted ones too, that ran at the same time, in which'
      : 'occasions for anomalies: pairs of transactions, aborted ones too, of different sessions (times are not known), in which',
  ]
  const width = Math.max(...known(strength).map(({ count }) => `${count}`.length)) + 2
  const table = (isMeeting: boolean) =>
    known(strength)
      .filter((each) => each.isMeeting === isMeeting)
      .toSorted((a, b) => b.count - a.count)
      .map(({ count, anomaly, when }) => `${`${count}`.padStart(width)}  ${when} (${anomaly})`)
  lines.push(...table(true), 'and transactions that', ...table(false))
  if (isLeast) lines.push('There are more: not all pairs were looked at.')
  return lines
}

/** One line: what could have shown, and what had no occasion to. */
export function tellOccasions(strength: Strength): string {
  const [some, none] = [(count: number) => count > 0, (count: number) => count === 0].map((is) =>
    known(strength)
      .filter(({ count }) => is(count))
      .map(({ anomaly }) => anomaly)
      .join(', '),
  )
  const lacking = none === '' ? '' : `; no occasion for ${none}`
  return some === '' ? `no occasion for any anomaly` : `occasions for ${some}${lacking}`
}

/** Those that the history can have, with how often. */
function known({ occasions }: Strength): (Occasion & { count: number })[] {
  return OCCASIONS.flatMap((occasion: Occasion) => {
    const count = occasions[occasion.anomaly as keyof typeof occasions]
    return count === undefined ? [] : [{ ...occasion, count }]
  })
}
