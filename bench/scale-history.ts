// Writes histories of any length as Plume text, in a stream and within a few megabytes: sessions
// take turns, each transaction reads what was committed when it began and writes values of its own.
// A transaction begins up to `lag` commits before its own, so that with a lag reads are stale, and
// all is causal. What violates a level, or is told too late, can be added behind it, and all can be
// told in another order. Main functions: writeScaleHistory, addEnding, rearrange.

import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { Random } from '../src/base/random.ts'

export interface ScaleOptions {
  readonly path: string
  readonly txns: number
  readonly ops: number // of each transaction
  readonly sessions: number
  readonly keys: number
  /** How many commits before its own a transaction may begin. */
  readonly lag: number
  readonly seed: number
}

const KEPT = 4 // versions of a key that a transaction may still see
const BUFFER_BYTES = 1 << 20
const LONGEST_LINE = 64

export function writeScaleHistory(options: ScaleOptions): void {
  const writer = new Lines(options.path, 'w')
  new Store(options, writer).run()
  writer.close()
}

class Store {
  private readonly random: Random
  private readonly values: Int32Array // key · KEPT + n -> the n-th last value, 0 at first
  private readonly commits: Int32Array // key · KEPT + n -> when it was committed
  private readonly lastOf: Int32Array // session -> when it last committed
  private nextValue = 1

  constructor(
    private readonly options: ScaleOptions,
    private readonly lines: Lines,
  ) {
    this.random = new Random(options.seed)
    this.values = new Int32Array(options.keys * KEPT)
    this.commits = new Int32Array(options.keys * KEPT).fill(-1)
    this.lastOf = new Int32Array(options.sessions).fill(-1)
  }

  run(): void {
    const { txns, ops, sessions, keys } = this.options
    const { random } = this
    for (let txn = 0; txn < txns; txn++) {
      const session = random.below(sessions)
      const began = Math.max(this.lastOf[session]!, txn - 1 - random.below(this.options.lag + 1))
      const used: number[] = []
      for (let op = 0; op < ops; op++) {
        const key = random.below(keys)
        if (used.includes(key)) continue
        used.push(key)
        if (random.chance(0.5)) this.lines.put('r', key, this.seen(key, began), session, txn)
        else this.lines.put('w', key, this.write(key, txn), session, txn)
      }
      if (used.length > 0) this.lastOf[session] = txn
    }
  }

  /** The version of a key that was there at some time; the oldest kept one, if that is gone. */
  private seen(key: number, time: number): number {
    for (let n = 0; n < KEPT; n++) {
      const at = key * KEPT + n
      if (this.commits[at]! <= time) return this.values[at]!
    }
    return this.values[key * KEPT]!
  }

  private write(key: number, txn: number): number {
    const from = key * KEPT
    for (let n = from + KEPT - 1; n > from; n--) {
      this.values[n] = this.values[n - 1]!
      this.commits[n] = this.commits[n - 1]!
    }
    this.values[from] = this.nextValue
    this.commits[from] = txn
    return this.nextValue++
  }
}

/** Session by session, or each transaction up to so many later than it was committed. */
export type Layout = 'session' | 'shuffled'

const SHUFFLED_WITHIN = 20

/** Tells the transactions of a file in another order that keeps each session's own; in memory. */
export function rearrange(path: string, layout: Layout): void {
  const txns = readFileSync(path, 'latin1').match(/(?:[rw]\(\d+,\d+,\d+,(\d+)\)\n)(?:.*,\1\)\n)*/g)!
  const sessionOf = (txn: string) => Number(txn.slice(0, txn.indexOf(')')).split(',')[2])
  const random = new Random(1)
  const latest = new Map<number, number>() // session -> place of its last transaction
  const placed = txns.map((txn, i) => {
    const session = sessionOf(txn)
    const later = layout === 'session' ? 0 : random.below(SHUFFLED_WITHIN)
    const place = layout === 'session' ? session : Math.max(i + later, latest.get(session) ?? 0)
    latest.set(session, place)
    return { txn, place }
  })
  placed.sort((a, b) => a.place - b.place) // stable
  writeFileSync(path, placed.map(({ txn }) => txn).join(''), 'latin1')
}

/** What is added: a violation of the level, and of no weaker one, or a read before its write. */
export type Ending = 'rc' | 'ra' | 'cc' | 'late'

const ENDING_VALUE = 1_000_000_000 // larger than any other, and small enough for nine digits

/** Adds a few transactions of sessions 0 to 3, on keys of their own, to a history. */
export function addEnding({ path, keys, txns }: ScaleOptions, ending: Ending): void {
  const lines = new Lines(path, 'a')
  const [x, y] = [keys, keys + 1]
  const [one, two, other, last] = [4, 3, 2, 1].map((n) => ENDING_VALUE - n) as [
    number,
    number,
    number,
    number,
  ]
  if (ending === 'late') {
    lines.put('r', x, one, 0, txns)
    lines.put('w', x, one, 1, txns + 1)
    lines.close()
    return
  }
  lines.put('w', x, one, 0, txns)
  lines.put('r', x, one, 1, txns + 1)
  lines.put('w', x, two, 1, txns + 1)
  if (ending === 'cc') {
    // What is read is known by way of another.
    lines.put('r', x, two, 2, txns + 2)
    lines.put('w', y, other, 2, txns + 2)
  } else {
    lines.put('w', y, other, 1, txns + 1)
    lines.put('w', y + 1, last, 2, txns + 2)
  }
  const stale = () => lines.put('r', x, one, 3, txns + 3)
  if (ending === 'ra') stale()
  lines.put('r', y, other, 3, txns + 3)
  if (ending !== 'ra') stale()
  lines.close()
}

/** Lines as bytes: as text they would take most of the time. */
export class Lines {
  private readonly file: number
  private readonly bytes = new Uint8Array(BUFFER_BYTES + LONGEST_LINE)
  private length = 0

  constructor(path: string, mode: 'w' | 'a') {
    this.file = openSync(path, mode)
  }

  put(kind: 'r' | 'w', key: number, value: number, session: number, txn: number): void {
    const { bytes } = this
    let at = this.length
    bytes[at++] = kind === 'r' ? 114 : 119
    bytes[at++] = 40 // (
    at = this.digits(at, key)
    bytes[at++] = 44 // ,
    at = this.digits(at, value)
    bytes[at++] = 44
    at = this.digits(at, session)
    bytes[at++] = 44
    at = this.digits(at, txn)
    bytes[at++] = 41 // )
    bytes[at++] = 10
    this.length = at
    if (at >= BUFFER_BYTES) this.flush()
  }

  close(): void {
    this.flush()
    closeSync(this.file)
  }

  /** Writes an integer below 2^31; returns where it ends. */
  private digits(at: number, n: number): number {
    const { bytes } = this
    let end = at + 1
    for (let rest = n; rest > 9; rest = (rest / 10) | 0) end++
    let rest = n
    for (let to = end - 1; to >= at; to--) {
      const more = (rest / 10) | 0
      bytes[to] = 48 + rest - more * 10
      rest = more
    }
    return end
  }

  private flush(): void {
    for (let done = 0; done < this.length; ) {
      done += writeSync(this.file, this.bytes, done, this.length - done)
    }
    this.length = 0
  }
}
