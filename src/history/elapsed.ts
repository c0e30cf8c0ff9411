// How long it was from one transaction's finish to another's start, exactly: doubles decide unless
// they are too close to tell, and then the digits of the times do. Main class: Elapsed.

import type { BoundUnit } from '../levels/staleness.ts'
import type { History } from './history.ts'
import { type Decimal, parseDecimal } from './times.ts'

/** Decimal places of a second. */
const PLACES: Readonly<Record<BoundUnit, number>> = { s: 0, ms: 3, us: 6, ns: 9 }

/** Doubles that differ by less than this share of their size may be in another order. */
const DOUBT = 2 ** -40

export class Elapsed {
  constructor(private readonly history: History) {}

  /** From the finish of one to the start of another, in the unit of the history. */
  between(from: number, to: number): number {
    return this.history.txnStartTime![to]! - this.history.txnFinishTime![from]!
  }

  /** The same with all its digits, and the unit if the history names it. */
  told(from: number, to: number): string {
    return `${tell(this.exactly(from, to))}${this.history.timeUnit ?? ''}`
  }

  /** No time at all, told in the same way. */
  nothing(): string {
    return `0${this.history.timeUnit ?? ''}`
  }

  /** Whether it is longer than a decimal, in the unit of the history, says. */
  exceeds(from: number, to: number, limit: string): boolean {
    const exact = () => compare(this.exactly(from, to), parseDecimal(limit)!)
    const difference = this.between(from, to) - Number(limit)
    return (this.isDoubtful(difference, from, to) ? exact() : difference) > 0
  }

  /** Whether it is longer between these than between those. */
  isLonger(from: number, to: number, otherFrom: number, otherTo: number): boolean {
    const difference = this.between(from, to) - this.between(otherFrom, otherTo)
    const exact = () => compare(this.exactly(from, to), this.exactly(otherFrom, otherTo))
    const isDoubtful =
      this.isDoubtful(difference, from, to) || this.isDoubtful(difference, otherFrom, otherTo)
    return (isDoubtful ? exact() : difference) > 0
  }

  private isDoubtful(difference: number, from: number, to: number): boolean {
    const { txnStartTime, txnFinishTime } = this.history
    const size = Math.abs(txnStartTime![to]!) + Math.abs(txnFinishTime![from]!)
    return Math.abs(difference) <= size * DOUBT
  }

  private exactly(from: number, to: number): Decimal {
    const start = parseDecimal(this.history.startText(to)!)!
    const finish = parseDecimal(this.history.finishText(from)!)!
    const exponent = Math.min(start.exponent, finish.exponent)
    const units = scaled(start, exponent) - scaled(finish, exponent)
    return { mantissa: String(units), exponent }
  }
}

/** A time in one unit as a decimal in another one. */
export function inUnit(amount: string, from: BoundUnit, to: BoundUnit): string {
  const { mantissa, exponent } = parseDecimal(amount)!
  return tell({ mantissa, exponent: exponent + PLACES[to] - PLACES[from] })
}

function scaled({ mantissa, exponent }: Decimal, to: number): bigint {
  return BigInt(mantissa) * 10n ** BigInt(exponent - to)
}

function compare(a: Decimal, b: Decimal): number {
  const exponent = Math.min(a.exponent, b.exponent)
  const [left, right] = [scaled(a, exponent), scaled(b, exponent)]
  return left < right ? -1 : left > right ? 1 : 0
}

/** Without an exponent, and without zeros at its end. */
function tell({ mantissa, exponent }: Decimal): string {
  const sign = mantissa.startsWith('-') ? '-' : ''
  const digits = mantissa.slice(sign.length)
  if (exponent >= 0) return digits === '0' ? '0' : `${sign}${digits}${'0'.repeat(exponent)}`
  const padded = digits.padStart(1 - exponent, '0')
  const fraction = padded.slice(exponent).replace(/0+$/, '')
  return `${sign}${padded.slice(0, exponent)}${fraction === '' ? '' : `.${fraction}`}`
}
