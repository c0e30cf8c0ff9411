// Propositional formulas as histories: the reduction by which Biswas & Enea (Theorem 3.2) show
// that pc, si and ser are NP-complete. A formula is satisfiable iff its history satisfies pc, si
// and ser, all three alike. A variable k is true if b_k commits before a_k; a literal is true if
// its z commits before its y; a cycle z → next y around each clause leaves one literal true; and
// w, which reads from z and follows a or b, ties the literal to its variable. Session order
// between single transactions, which the paper uses freely, becomes a read of a key of its own.

import type { Random } from '../../../src/base/random.ts'
import { HistoryBuilder } from '../../../src/history/builder.ts'
import { COMMITTED, type History } from '../../../src/history/history.ts'

/** Clauses of literals: k + 1 stands for variable k, -(k + 1) for its negation. */
export type Formula = readonly (readonly number[])[]

export function randomFormula(random: Random, variables: number, clauses: number): number[][] {
  return Array.from({ length: clauses }, () => {
    const names = random.shuffle(Array.from({ length: variables }, (_, k) => k + 1)).slice(0, 3)
    return names.map((name) => (random.chance(0.5) ? name : -name))
  })
}

export function isSatisfiable(formula: Formula, variables: number): boolean {
  for (let world = 0; world < 2 ** variables; world++) {
    const holds = (literal: number) => ((world >> (Math.abs(literal) - 1)) & 1) === +(literal > 0)
    if (formula.every((clause) => clause.some(holds))) return true
  }
  return false
}

interface Txn {
  readonly writes: [string, number][]
  readonly reads: [string, number][]
}

export function historyOf(formula: Formula, variables: number): History {
  const txns: Txn[] = []
  let keyCount = 0
  const make = (): Txn => {
    const txn: Txn = { writes: [], reads: [] }
    txns.push(txn)
    return txn
  }
  const precede = (first: Txn, second: Txn) => {
    const key = `so${keyCount++}`
    first.writes.push([key, 1])
    second.reads.push([key, 1])
  }
  const a = Array.from({ length: variables }, make)
  const b = Array.from({ length: variables }, make)
  formula.forEach((clause, i) => {
    const y = clause.map(make)
    const z = clause.map(make)
    clause.forEach((literal, j) => {
      const w = make()
      const variable = Math.abs(literal) - 1
      const [upper, lower] =
        literal > 0 ? [a[variable]!, b[variable]!] : [b[variable]!, a[variable]!]
      precede(z[j]!, y[(j + 1) % clause.length]!)
      precede(y[j]!, upper)
      precede(lower, w)
      y[j]!.writes.push([`v${i}.${j}`, 1])
      z[j]!.writes.push([`v${i}.${j}`, 2])
      w.reads.push([`v${i}.${j}`, 2])
    })
  })
  const builder = new HistoryBuilder(0)
  txns.forEach(({ reads, writes }, t) => {
    const txn = builder.addTxn(builder.session(t + 1), COMMITTED)
    for (const [key, value] of reads) builder.read(txn, key, value)
    for (const [key, value] of writes) builder.write(txn, key, value)
  })
  return builder.finish()
}
