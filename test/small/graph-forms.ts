// The graph forms of ser, si and pc: some choice of a version order per key makes a certain graph
// acyclic. Tried by enumerating every choice, to test the definitions against the axioms.
//   ser: so ∪ wr ∪ ww ∪ rw      si: (so ∪ wr ∪ ww) ; rw?      pc: ((so ∪ wr) ; rw?) ∪ ww
// Main function: graphProfile.

import { INIT, type Situation } from './judge.ts'
import { isAcyclic } from './oracle.ts'

export interface GraphProfile {
  ser: boolean
  si: boolean
  pc: boolean
}

/** Looks at the sound reads only, as `axiomProfile` does. */
export function graphProfile(situation: Situation): GraphProfile {
  const profile: GraphProfile = { ser: false, si: false, pc: false }
  const keys = [...situation.writers.keys()]
  forEachVersionOrder(situation, keys, (orders) => {
    const { ww, rw } = edgesOf(situation, keys, orders)
    const dep = situation.so.map((mask, t) => mask | situation.wr[t]!)
    const depWw = dep.map((mask, t) => mask | ww[t]!)
    profile.ser ||= isAcyclic(depWw.map((mask, t) => mask | rw[t]!))
    profile.si ||= isAcyclic(withOptional(depWw, rw))
    profile.pc ||= isAcyclic(withOptional(dep, rw).map((mask, t) => mask | ww[t]!))
    return !(profile.ser && profile.si && profile.pc)
  })
  return profile
}

/** first ; second?, as t -> predecessors. */
function withOptional(first: readonly number[], second: readonly number[]): number[] {
  return first.map((mask, t) => {
    let all = mask
    for (let via = 0; via < first.length; via++) if ((second[t]! >> via) & 1) all |= first[via]!
    return all
  })
}

function edgesOf(situation: Situation, keys: readonly string[], orders: readonly number[][]) {
  const ww = new Array<number>(situation.count).fill(0)
  const rw = new Array<number>(situation.count).fill(0)
  keys.forEach((key, k) => {
    const order = orders[k]!
    for (let later = 1; later < order.length; later++) {
      for (let earlier = 0; earlier < later; earlier++) ww[order[later]!]! |= 1 << order[earlier]!
    }
    for (const read of situation.reads) {
      if (read.key !== key) continue
      for (const t2 of order.slice(order.indexOf(read.from) + 1)) {
        if (t2 !== read.reader) rw[t2]! |= 1 << read.reader
      }
    }
  })
  return { ww, rw }
}

/** Visits every choice of a total order of the writers of each key, the initial one first. */
function forEachVersionOrder(
  situation: Situation,
  keys: readonly string[],
  visit: (orders: readonly number[][]) => boolean,
): void {
  const orders: number[][] = []
  const choose = (k: number): boolean => {
    if (k === keys.length) return visit(orders)
    const writers: number[] = []
    const mask = situation.writers.get(keys[k]!)!
    for (let t = 0; t < situation.count; t++) if (t !== INIT && (mask >> t) & 1) writers.push(t)
    for (const order of permutations(writers)) {
      if (order.some((t, i) => order.slice(i + 1).some((u) => (situation.ww[t]! >> u) & 1)))
        continue
      orders[k] = (mask >> INIT) & 1 ? [INIT, ...order] : order
      if (!choose(k + 1)) return false
    }
    return true
  }
  choose(0)
}

export function* permutations<T>(items: readonly T[]): Generator<T[]> {
  if (items.length === 0) yield []
  for (let i = 0; i < items.length; i++) {
    const rest = [...items.slice(0, i), ...items.slice(i + 1)]
    for (const tail of permutations(rest)) yield [items[i]!, ...tail]
  }
}
