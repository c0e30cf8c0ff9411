// Whether the times that a file tells of a session's transactions can be, piece by piece: as
// history/check-times.ts has it of a history in memory. Main class: SessionTimes.

import { InputError } from '../base/errors.ts'
import { FloatColumn } from '../base/grow.ts'
import { showValue } from '../history/initial.ts'
import type { Value } from '../history/values.ts'

export class SessionTimes {
  private readonly latest = new FloatColumn(16) // session -> the latest time told of it

  /** The session's next transaction; NaN where a time is not known. */
  add(session: number, start: number, finish: number, nameOf: (session: number) => Value): void {
    while (this.latest.length <= session) this.latest.push(Number.NEGATIVE_INFINITY)
    const latest = this.latest.data[session]!
    if (start < latest || finish < start) {
      throw impossibleTimes(
        `a transaction of session ${showValue(nameOf(session))} starts at ${start}, before the one before it ended or after its own end`,
      )
    }
    if (start > latest) this.latest.data[session] = start
    if (finish > this.latest.data[session]!) this.latest.data[session] = finish
  }
}

export function impossibleTimes(message: string): InputError {
  const hint = 'a session runs one transaction at a time; check the clock or the session numbers'
  return new InputError('impossible-times', message, null, hint)
}
