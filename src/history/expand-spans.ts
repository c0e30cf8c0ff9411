// Makes reads and writes of registers of range reads, counters and sets (spans.ts), when all
// operations are known, and with them all keys and all who increment. A counter's share is a key of
// its own for every transaction that increments it: only that one writes it, each time what it has
// added so far, such as "+3", so increments commute. A read of the counter reads the shares of the
// others; which of them it saw has to add up, together with what it added itself. Where only one
// set of them does, that is what it read; where several do, reads are left open (open-reads.ts),
// and where none does it read what nobody wrote. Main function: expandSpans.

import { InputError, type Place } from '../base/errors.ts'
import { ByteColumn, IntColumn } from '../base/grow.ts'
import { obtain } from '../base/maps.ts'
import { ABORTED, NONE, READ, WRITE } from './history.ts'
import { showValue } from './initial.ts'
import { IntegerKeys, type NamedKey } from './integer-keys.ts'
import { freshKey, SetElements } from './set-elements.ts'
import {
  ADD,
  ARRIVED_ADD,
  ARRIVED_INCREMENT,
  ARRIVED_OTHER,
  ARRIVED_RANGE,
  ARRIVED_SET,
  INCREMENT,
  type SpanColumns,
  TOTAL,
} from './spans.ts'
import { type Effort, findParts, IN, OPEN } from './subset-sums.ts'
import type { SymbolTable } from './symbols.ts'
import type { Value, ValueTable } from './values.ts'

/** Spans are made of so many operations at most, all together. */
const MOST_OPS = 50_000_000
/** Steps for finding out which increments add up to what was read. */
const MOST_STEPS = 500_000_000

/** Why a read is open: it may have seen anything but its value, or a share or not. */
export const NOT_OPEN = 0
export const OTHER = 1
export const SHARE = 2
export const AGAIN = 3 // the read of a SHARE before it, once more

/** What is laid out, by its maker. */
export interface SpannedOps {
  readonly opTxn: IntColumn
  readonly opKind: ByteColumn
  readonly opKey: IntColumn
  readonly opValue: IntColumn
  readonly keys: SymbolTable
  readonly values: ValueTable
  readonly initial: Value | undefined
  statusOf(txn: number): number
  labelOf(txn: number): Value
  valueId(value: Value): number
  /** Arrivals of the reads of lightweight operations. */
  lightArrivals(): ReadonlySet<number>
  hasVersion(arrival: number): boolean
}

/** Operations as if they had arrived as plain reads and writes. */
class ExpandedOps {
  readonly opTxn = new IntColumn()
  readonly opKind = new ByteColumn()
  readonly opKey = new IntColumn()
  readonly opValue = new IntColumn()
  readonly source = new IntColumn() // arrival -> arrival of what it was made of
  readonly span = new IntColumn() // arrival -> the span that begins with it, or NONE
  readonly open = new ByteColumn() // arrival -> NOT_OPEN, OTHER, SHARE or AGAIN
  readonly rest = new Map<number, number>() // span -> what its open shares add up to

  add(source: number, txn: number, kind: number, key: number, value: number, open = NOT_OPEN) {
    this.opTxn.push(txn)
    this.opKind.push(kind)
    this.opKey.push(key)
    this.opValue.push(value)
    this.source.push(source)
    this.span.push(NONE)
    this.open.push(open)
  }

  get length(): number {
    return this.opTxn.length
  }
}

export function spansWithStatements(): InputError {
  const message =
    'range reads, counters, sets and a cas that failed without telling what it found do not go with SQL statements'
  return new InputError('mixed-key', message, null, 'let statements say the same')
}

/** A column by arrival as a column by operation. */
export function inPlace<Column extends Int32Array | Uint8Array>(
  column: Column,
  arrivals: Int32Array | null,
): Column {
  return arrivals === null ? column : (column.map((_, op) => column[arrivals[op]!]!) as Column)
}

/** op -> arrival of what it was made of. */
export function throughSpans({ source }: ExpandedOps, arrivals: Int32Array | null): Int32Array {
  return inPlace(source.view(), arrivals)
}

/** A transaction's share of a counter. */
interface Share {
  readonly key: number
  readonly txn: number
  total: number // all that it adds
  soFar: number // what it has added at the operation at hand
}

/** @param placeOf where the operation stands that arrived then */
export function expandSpans(
  ops: SpannedOps,
  spans: SpanColumns,
  placeOf: (arrival: number) => Place | null,
): ExpandedOps {
  return new Expansion(ops, spans, placeOf).run()
}

class Expansion {
  private readonly out = new ExpandedOps()
  private readonly shares = new Map<number, Map<number, Share>>() // counter -> transaction -> share
  private ranges: IntegerKeys | null = null
  private readonly sets: SetElements
  private readonly effort: Effort = { left: MOST_STEPS }
  private readonly nothing: number // id of the initial value
  private start = 0 // what every counter holds at first

  constructor(
    private readonly ops: SpannedOps,
    private readonly spans: SpanColumns,
    private readonly placeOf: (arrival: number) => Place | null,
  ) {
    this.nothing = ops.valueId(null)
    this.sets = new SetElements(ops, placeOf)
  }

  run(): ExpandedOps {
    const { ops, out } = this
    this.findShares()
    const { opTxn, opKind, opKey, opValue } = ops
    for (let i = 0; i < opTxn.length; i++) {
      const [txn, kind] = [opTxn.data[i]!, opKind.data[i]!]
      const [key, value] = [opKey.data[i]!, opValue.data[i]!]
      if (kind === ARRIVED_RANGE) this.addRange(i, txn, value)
      else if (kind === ARRIVED_INCREMENT) this.addIncrement(i, txn, key, value)
      else if (kind === ARRIVED_ADD) this.addElement(i, txn, key, value)
      else if (kind === ARRIVED_SET) this.addSet(i, txn, value)
      else if (kind === ARRIVED_OTHER) out.add(i, txn, READ, key, value, OTHER)
      else if (this.shares.has(key)) this.addTotal(i, txn, key, value)
      else out.add(i, txn, kind, key, value)
      if (out.length > MOST_OPS) {
        const message = `range reads and reads of counters tell of more than ${MOST_OPS} keys and increments together`
        throw new InputError('too-large', message, this.placeOf(i))
      }
    }
    return out
  }

  private findShares(): void {
    const { opTxn, opKind, opKey, opValue, values } = this.ops
    for (let i = 0; i < opTxn.length; i++) {
      if (opKind.data[i] !== ARRIVED_INCREMENT) continue
      const share = this.shareFor(opKey.data[i]!, opTxn.data[i]!)
      share.total += values.get(opValue.data[i]!) as number
      if (share.total > Number.MAX_SAFE_INTEGER) {
        throw this.bad(i, 'the increments of a transaction add up to more than 2^53 - 1', null)
      }
    }
    if (this.shares.size === 0) return
    this.start = this.startOfCounters()
    const light = this.ops.lightArrivals()
    for (let i = 0; i < opTxn.length; i++) {
      const [kind, key] = [opKind.data[i]!, opKey.data[i]!]
      if (kind === ARRIVED_INCREMENT || kind === ARRIVED_RANGE || !this.shares.has(key)) continue
      if (kind === READ && !light.has(i)) {
        this.expectNoVersion(i, key)
        continue
      }
      const name = showValue(this.ops.keys.get(key))
      const message = `key ${name} is a counter, which is incremented and read as a number only`
      throw this.bad(i, message, 'give counters, registers and lists different keys')
    }
  }

  /** A version of the counter is none of the shares that were seen. */
  private expectNoVersion(arrival: number, counter: number): void {
    if (!this.ops.hasVersion(arrival)) return
    const message = `key ${showValue(this.ops.keys.get(counter))} is a counter, which has no versions`
    throw this.bad(arrival, message, 'leave out the versions of what is incremented')
  }

  private startOfCounters(): number {
    const { initial } = this.ops
    if (initial === null) return 0
    if (typeof initial === 'number' && initial >= 0) return initial
    const hint = 'let the initial value be null, for 0, or a number'
    throw this.bad(NONE, 'counters begin with a number, and the initial value is none', hint)
  }

  private shareFor(counter: number, txn: number): Share {
    const shares = obtain(this.shares, counter, () => new Map<number, Share>())
    const make = () => ({ key: this.nameShare(counter, txn), txn, total: 0, soFar: 0 })
    return obtain(shares, txn, make)
  }

  /** A key that no history has: what T3 added to x is `x of T3`. */
  private nameShare(counter: number, txn: number): number {
    const label = this.ops.labelOf(txn)
    const who = typeof label === 'string' ? label : `T${label ?? txn + 1}`
    const { keys } = this.ops
    return freshKey(keys, `${keys.get(counter)} of ${who}`)
  }

  private addIncrement(arrival: number, txn: number, counter: number, value: number): void {
    const { out, spans, ops } = this
    const share = this.shareFor(counter, txn)
    share.soFar += ops.values.get(value) as number
    const span = spans.add(INCREMENT, counter, value)
    spans.size.data[span] = 1
    out.add(arrival, txn, WRITE, share.key, ops.values.of(`+${share.soFar}`))
    out.span.data[out.length - 1] = span
  }

  private addElement(arrival: number, txn: number, set: number, element: number): void {
    const { out, spans, sets } = this
    const span = spans.add(ADD, set, element)
    spans.size.data[span] = 1
    out.add(arrival, txn, WRITE, sets.keyOf(set, element), sets.present)
    out.span.data[out.length - 1] = span
  }

  /** Elements that were there, and then those that were not. */
  private addSet(arrival: number, txn: number, span: number): void {
    const { out, spans, ops, sets } = this
    const set = spans.key.data[span]!
    if (ops.initial === undefined) {
      const message = 'a read of a set says what is not in it, but there is no initial value'
      throw this.bad(arrival, message, 'let the initial value be null')
    }
    const from = out.length
    const returned = new Set<number>()
    const first = spans.pairStart.data[span]!
    for (let pair = first; pair < first + spans.returned.data[span]!; pair++) {
      const key = sets.keyOf(set, spans.pairValue.data[pair]!)
      returned.add(key)
      out.add(arrival, txn, READ, key, sets.present)
    }
    for (const key of sets.addedTo(set)) {
      if (!returned.has(key)) out.add(arrival, txn, READ, key, this.nothing)
    }
    if (out.length === from) out.add(arrival, txn, READ, set, this.nothing)
    out.span.data[from] = span
    spans.size.data[span] = out.length - from
  }

  private addTotal(arrival: number, txn: number, counter: number, value: number): void {
    const { out, ops, spans } = this
    const total = this.totalOf(arrival, counter, value)
    // What an aborted transaction read is not judged.
    if (ops.statusOf(txn) === ABORTED) return out.add(arrival, txn, READ, counter, value)
    const shares = this.shares.get(counter)!
    const own = shares.get(txn)
    const soFar = own?.soFar ?? 0
    const others = [...shares.values()].filter(
      (share) => share !== own && ops.statusOf(share.txn) !== ABORTED,
    )
    const left = total - this.start - soFar
    const totals = others.map((share) => share.total)
    const parts = findParts(totals, left, this.effort)
    const from = out.length
    let rest = left
    if (parts === null) {
      // The initial value would pass for the initial state: it missed what it had added itself.
      const isFirst = total === this.start
      out.add(arrival, txn, READ, isFirst ? own!.key : counter, isFirst ? this.nothing : value)
    } else if (others.length === 0) {
      // Nobody else adds to it: it read what it had added itself, or the initial state.
      const seen = soFar > 0 ? ops.values.of(`+${soFar}`) : this.nothing
      out.add(arrival, txn, READ, soFar > 0 ? own!.key : counter, seen)
    }
    // A share that it missed is held against all that it saw, in whatever order they are told: what
    // may have been missed comes behind what may have been seen, and what is open in both places.
    for (let i = 0; parts !== null && i < others.length; i++) {
      const { key, total: whole } = others[i]!
      if (parts[i] === IN) out.add(arrival, txn, READ, key, ops.values.of(`+${whole}`))
      else if (parts[i] === OPEN) out.add(arrival, txn, READ, key, this.nothing, SHARE)
      if (parts[i] === IN) rest -= whole
    }
    for (let i = 0; parts !== null && i < others.length; i++) {
      const isOpen = parts[i] === OPEN
      if (parts[i] === IN) continue
      out.add(arrival, txn, READ, others[i]!.key, this.nothing, isOpen ? AGAIN : NOT_OPEN)
    }
    const span = spans.add(TOTAL, counter, value)
    out.span.data[from] = span
    spans.size.data[span] = out.length - from
    if (parts?.includes(OPEN)) out.rest.set(span, rest)
  }

  private totalOf(arrival: number, counter: number, value: number): number {
    if (value === this.nothing) return this.start
    const total = this.ops.values.get(value)
    if (typeof total === 'number' && total >= 0) return total
    const name = showValue(this.ops.keys.get(counter))
    const message = `the counter ${name} cannot be read as ${showValue(total)}`
    throw this.bad(arrival, message, 'counters hold whole numbers, from 0 to 2^53 - 1')
  }

  private addRange(arrival: number, txn: number, span: number): void {
    const { out, spans, ops } = this
    if (ops.initial === undefined) {
      const message = 'a range read says which keys are not there, but there is no initial value'
      throw this.bad(
        arrival,
        message,
        'let the initial value be null, which stands for a key that is not there',
      )
    }
    const from = out.length
    const returned = new Set<number>()
    const first = spans.pairStart.data[span]!
    const count = spans.returned.data[span]!
    for (let pair = first; pair < first + count; pair++) {
      const key = spans.pairKey.data[pair]!
      this.expectRegister(arrival, key)
      returned.add(key)
      if (spans.pairValue.data[pair] === this.nothing) {
        const name = showValue(ops.keys.get(key))
        const message = `the range read returned key ${name} with the value of a key that is not there`
        throw this.bad(arrival, message, 'leave out keys that were not there')
      }
      out.add(arrival, txn, READ, key, spans.pairValue.data[pair]!)
    }
    const [least, most] = [spans.first, spans.last].map(({ data }) => ops.values.get(data[span]!))
    this.ranges ??= changedKeys(ops)
    this.ranges.forEach(least as number, most as number, (key) => {
      this.expectRegister(arrival, key)
      if (!returned.has(key)) out.add(arrival, txn, READ, key, this.nothing)
    })
    // Nobody writes a key in it: one that is not there stands for all.
    if (out.length === from) out.add(arrival, txn, READ, ops.keys.of(least!), this.nothing)
    out.span.data[from] = span
    spans.size.data[span] = out.length - from
  }

  private expectRegister(arrival: number, key: number): void {
    const isSet = this.sets.has(key)
    if (!isSet && !this.shares.has(key)) return
    const message = `the range read speaks of key ${showValue(this.ops.keys.get(key))}, which is a ${isSet ? 'set' : 'counter'}`
    throw this.bad(arrival, message, 'range reads are of registers')
  }

  private bad(arrival: number, message: string, hint: string | null): InputError {
    return new InputError('mixed-key', message, arrival < 0 ? null : this.placeOf(arrival), hint)
  }
}

/** The integer keys that somebody writes, or adds to. */
function changedKeys({ opKind, opKey, keys }: SpannedOps): IntegerKeys {
  const changed = new Set<number>()
  for (let i = 0; i < opKind.length; i++) {
    const kind = opKind.data[i]!
    if (kind !== READ && kind !== ARRIVED_RANGE && kind !== ARRIVED_SET) changed.add(opKey.data[i]!)
  }
  const named: NamedKey[] = []
  for (const key of changed) {
    const name = keys.get(key)
    if (typeof name === 'number' || typeof name === 'bigint') named.push({ name, key })
  }
  return new IntegerKeys(named)
}
