// Which of some numbers can be part of a sum. Sums are followed from both ends: what the first
// numbers can add up to, the smallest first, and from where the total is still reached. While they
// are few they are sorted lists; from where a bit for each number up to the total takes less, they
// are bits, 32 sums at a step, and only every so often is one kept, from which those up to the next
// are made again on the way back. Equal numbers are as good as each other: n of them are 1, 2, 4
// and so on times the number. Of a total beyond the half, what is not part of it is asked for
// instead.
// Main function: findParts.

/** What is known of a number: it is part of every such sum, of none, or of some. */
export const IN = 1
const OUT = 0
export const OPEN = 2

/** Steps that are left for finding out; what takes more is open. */
export interface Effort {
  left: number // 32 sums as bits are a step
}

/** Steps that a sum takes in a list, where it is compared and copied. */
const LIST_STEPS = 8
/** Passes over bits: there, there once more in parts, and back. */
const PASSES = 3
/** Words of bits, and sums in lists, that are kept at once. */
const MOST_KEPT = 1 << 25

/**
 * Of each positive whole number whether it is part of those that add up to the total; null if none
 * do.
 */
export function findParts(
  numbers: ArrayLike<number>,
  total: number,
  effort: Effort,
): Uint8Array | null {
  const count = numbers.length
  const parts = new Uint8Array(count)
  let [all, areEqual] = [0, true]
  for (let i = 0; i < count; i++) {
    all += numbers[i]!
    if (numbers[i] !== numbers[0]) areEqual = false
  }
  if (total < 0 || total > all) return null
  if (total === 0) return parts
  if (total === all) return parts.fill(IN)
  if (areEqual) return total % numbers[0]! === 0 ? parts.fill(OPEN) : null
  const isOfRest = all <= Number.MAX_SAFE_INTEGER && total > all - total
  const sums = new Sums(numbers, isOfRest ? all - total : total, effort)
  const found = sums.find()
  if (found === undefined) return parts.fill(OPEN)
  if (found === null) return null
  for (let i = 0; i < count; i++) {
    const part = found.get(numbers[i]!) ?? OUT // what is more than the total is no part of it
    parts[i] = part === OPEN || !isOfRest ? part : part === IN ? OUT : IN
  }
  return parts
}

class Sums {
  private readonly number: number[] = [] // step -> what is added or not
  private readonly value: number[] = [] // step -> the number it is a multiple of
  private readonly canBeIn: Uint8Array // step -> 1 if a way to the total adds it
  private readonly canBeOut: Uint8Array // step -> 1 if a way to the total does not
  private readonly lists: Float64Array[] = [Float64Array.of(0)] // step -> sums before it
  private readonly words: number // for a bit of each sum up to the total

  constructor(
    numbers: ArrayLike<number>,
    private readonly total: number,
    private readonly effort: Effort,
  ) {
    this.words = Math.floor(total / 32) + 1
    const counts = new Map<number, number>()
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i]!
      if (number <= total) counts.set(number, (counts.get(number) ?? 0) + 1)
    }
    for (const value of Float64Array.from(counts.keys()).sort()) {
      let left = counts.get(value)!
      for (let times = 1; left > 0; times *= 2) {
        const taken = Math.min(times, left)
        this.number.push(value * taken)
        this.value.push(value)
        left -= taken
      }
    }
    this.canBeIn = new Uint8Array(this.number.length)
    this.canBeOut = new Uint8Array(this.number.length)
  }

  /** number -> its part; null if nothing adds up, undefined if that takes too much to find out. */
  find(): Map<number, number> | null | undefined {
    const { lists, number, total } = this
    if (!this.makeLists()) return undefined
    const last = lists.at(-1)!
    let good: Float64Array = Float64Array.of(total)
    if (lists.length <= number.length) {
      const found = this.followBits(last)
      if (!found) return found
      good = found
    } else if (last.at(-1) !== total) return null // more is not kept
    for (let step = lists.length - 2; step >= 0; step--) good = this.goBack(step, good)
    return this.settle()
  }

  /** Lists as long as they are shorter than bits; false if they take too much. */
  private makeLists(): boolean {
    const { lists, number, total, words, effort } = this
    let kept = 1
    for (let step = 0; step < number.length; step++) {
      const sums = lists[step]!
      if (sums.length * LIST_STEPS > words) return true
      effort.left -= sums.length * LIST_STEPS
      kept += 2 * sums.length
      if (effort.left < 0 || kept > MOST_KEPT) return false
      lists.push(withNumber(sums, number[step]!, total))
    }
    return true
  }

  /** From the sums before a step, in whose list they are, to those from which the total is reached. */
  private goBack(step: number, good: Float64Array): Float64Array {
    const sums = this.lists[step]!
    const number = this.number[step]!
    const before = new Float64Array(sums.length)
    let [length, within, without] = [0, 0, 0]
    for (let i = 0; i < sums.length; i++) {
      const sum = sums[i]!
      while (within < good.length && good[within]! < sum + number) within++
      while (without < good.length && good[without]! < sum) without++
      const isWithin = good[within] === sum + number
      const isWithout = good[without] === sum
      if (isWithin) this.canBeIn[step] = 1
      if (isWithout) this.canBeOut[step] = 1
      if (isWithin || isWithout) before[length++] = sum
    }
    return before.subarray(0, length)
  }

  /** From a list to the total and back to those in it from which the total is reached. */
  private followBits(list: Float64Array): Float64Array | null | undefined {
    const { number, total, words, effort } = this
    const first = this.lists.length - 1
    const count = number.length - first
    const stride = Math.ceil(Math.sqrt(count))
    const steps = words * count * PASSES
    if (steps > effort.left || words * (2 * stride + 3) > MOST_KEPT) return undefined
    effort.left -= steps
    const kept = new Uint32Array(words * (Math.floor((count - 1) / stride) + 1))
    const sums = new Uint32Array(words)
    for (const sum of list) setBit(sums, sum)
    for (let i = 0; i < count; i++) {
      if (i % stride === 0) kept.set(sums, words * (i / stride))
      addNumber(sums, sums, number[first + i]!)
    }
    if (!hasBit(sums, total)) return null
    const good = new Uint32Array(words)
    setBit(good, total)
    const block = Array.from({ length: stride }, () => new Uint32Array(words))
    for (let from = stride * Math.floor((count - 1) / stride); from >= 0; from -= stride) {
      const to = Math.min(from + stride, count)
      const place = words * (from / stride)
      block[0]!.set(kept.subarray(place, place + words))
      for (let i = from + 1; i < to; i++) {
        addNumber(block[i - from - 1]!, block[i - from]!, number[first + i - 1]!)
      }
      for (let i = to - 1; i >= from; i--) this.bitsBack(first + i, block[i - from]!, good)
    }
    return list.filter((sum) => hasBit(good, sum))
  }

  /** Turns the good sums after a step into those before it. */
  private bitsBack(step: number, sums: Uint32Array, good: Uint32Array): void {
    const number = this.number[step]!
    const away = Math.floor(number / 32)
    const shift = number % 32
    const rest = 32 - shift
    const { length } = good
    let [within, without] = [0, 0]
    for (let i = 0; i < length; i++) {
      const at = i + away
      const low = at < length ? good[at]! : 0
      const high = shift > 0 && at + 1 < length ? good[at + 1]! : 0
      // A shift by 32 is none.
      const isWithin = sums[i]! & ((low >>> shift) | (shift > 0 ? high << rest : 0))
      const isWithout = sums[i]! & good[i]!
      within |= isWithin
      without |= isWithout
      good[i] = isWithin | isWithout
    }
    if (within !== 0) this.canBeIn[step] = 1
    if (without !== 0) this.canBeOut[step] = 1
  }

  private settle(): Map<number, number> {
    const found = new Map<number, number>()
    this.value.forEach((value, step) => {
      const part = this.canBeIn[step] ? (this.canBeOut[step] ? OPEN : IN) : OUT
      const known = found.get(value)
      found.set(value, known === undefined || known === part ? part : OPEN)
    })
    return found
  }
}

/** A sorted list and the same with the number added to each, without what is more than the total. */
function withNumber(sums: Float64Array, number: number, total: number): Float64Array {
  const { length } = sums
  const out = new Float64Array(2 * length)
  let [plain, added, size] = [0, 0, 0]
  while (plain < length || added < length) {
    const one = plain < length ? sums[plain]! : Number.POSITIVE_INFINITY
    const other = added < length ? sums[added]! + number : Number.POSITIVE_INFINITY
    const least = Math.min(one, other)
    if (least > total) break
    out[size++] = least
    if (one === least) plain++
    if (other === least) added++
  }
  return out.slice(0, size)
}

/** Bits of the sums, and of the same with the number added to each; they may be the same array. */
function addNumber(sums: Uint32Array, out: Uint32Array, number: number): void {
  const away = Math.floor(number / 32)
  const shift = number % 32
  const rest = 32 - shift
  for (let i = sums.length - 1; i >= away; i--) {
    const at = i - away
    const low = shift > 0 && at > 0 ? sums[at - 1]! >>> rest : 0
    out[i] = sums[i]! | (sums[at]! << shift) | low
  }
  if (out !== sums) out.set(sums.subarray(0, away))
}

function setBit(bits: Uint32Array, at: number): void {
  bits[Math.floor(at / 32)]! |= 1 << (at % 32)
}

function hasBit(bits: Uint32Array, at: number): boolean {
  return (bits[Math.floor(at / 32)]! & (1 << (at % 32))) !== 0
}
