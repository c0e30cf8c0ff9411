// Sets as registers: each element of a set is a key of its own, `1 in s`, which whoever adds it
// writes, and which every read of the set reads, as there or not. Main class: SetElements.

import { InputError, type Place } from '../base/errors.ts'
import type { ByteColumn, IntColumn } from '../base/grow.ts'
import { obtain } from '../base/maps.ts'
import { showValue } from './initial.ts'
import { ARRIVED_ADD, ARRIVED_RANGE, ARRIVED_SET } from './spans.ts'
import type { SymbolTable } from './symbols.ts'
import type { Value, ValueTable } from './values.ts'

interface ArrivedOps {
  readonly opKind: ByteColumn
  readonly opKey: IntColumn
  readonly opValue: IntColumn
  readonly keys: SymbolTable
  readonly values: ValueTable
  readonly initial: Value | undefined
}

interface Elements {
  readonly keyOf: Map<number, number> // element -> its key
  readonly added: number[] // keys of those that somebody adds
}

export class SetElements {
  /** What the key of an element holds that is there. */
  readonly present: number
  private readonly sets = new Map<number, Elements>()

  constructor(
    private readonly ops: ArrivedOps,
    placeOf: (arrival: number) => Place | null,
  ) {
    const { opKind, opKey, opValue } = ops
    this.present = ops.values.of(ops.initial === 'in' ? 'in it' : 'in')
    const isOfSet = (kind: number) => kind === ARRIVED_ADD || kind === ARRIVED_SET
    for (let i = 0; i < opKind.length; i++) {
      if (!isOfSet(opKind.data[i]!)) continue
      const { keyOf, added } = this.elementsOf(opKey.data[i]!)
      if (opKind.data[i] === ARRIVED_SET || keyOf.has(opValue.data[i]!)) continue
      added.push(this.keyOf(opKey.data[i]!, opValue.data[i]!))
    }
    for (let i = 0; this.sets.size > 0 && i < opKind.length; i++) {
      const kind = opKind.data[i]!
      if (isOfSet(kind) || kind === ARRIVED_RANGE || !this.has(opKey.data[i]!)) continue
      const name = showValue(ops.keys.get(opKey.data[i]!))
      const message = `key ${name} is a set, which is added to and read as a set only`
      const hint = 'give sets, counters, registers and lists different keys'
      throw new InputError('mixed-key', message, placeOf(i), hint)
    }
  }

  has(key: number): boolean {
    return this.sets.has(key)
  }

  /** Keys of the elements that somebody adds. */
  addedTo(set: number): readonly number[] {
    return this.elementsOf(set).added
  }

  keyOf(set: number, element: number): number {
    return obtain(this.elementsOf(set).keyOf, element, () => {
      const { keys, values } = this.ops
      return freshKey(keys, `${showValue(values.get(element))} in ${keys.get(set)}`)
    })
  }

  private elementsOf(set: number): Elements {
    return obtain(this.sets, set, () => ({ keyOf: new Map(), added: [] }))
  }
}

/** A key that no history has, of about that name. */
export function freshKey(keys: SymbolTable, wanted: string): number {
  let name = wanted
  for (let size = keys.size; ; name += "'") {
    const key = keys.of(name)
    if (keys.size > size) return key
  }
}
