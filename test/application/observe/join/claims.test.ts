// What a join is said to prove, against brute force: random joins of small tables in one state of
// the database, and what each would have returned in others. Where it returns the same, all that
// was claimed must hold there too; where all of an exact claim holds, it must return the same.

import { describe, expect, it } from 'vitest'
import {
  type Join,
  type Proof,
  provenBy,
  supposedBy,
} from '../../../../src/application/observe/join/join-claims.ts'
import { type JoinPlan, planJoin } from '../../../../src/application/observe/join/join-plan.ts'
import type { Seen } from '../../../../src/application/observe/probe.ts'
import { shapeOf, tablesIn } from '../../../../src/application/observe/shape.ts'
import type { Column, Reference, Table } from '../../../../src/application/observe/table.ts'
import { Random } from '../../../../src/base/random.ts'
import { parsePredicate } from '../../../../src/sql/predicate.ts'

type State = readonly (readonly Seen[])[] // table -> rows

/** A table t0, t1 …: a key, a column that may be NULL or refer to the table before, and another. */
function makeTable(number: number, references: readonly Reference[]): Table {
  const column = (name: string, notNull: boolean): Column => {
    const rest = { isUuid: false, isPadded: false, isGenerated: false, spelling: null }
    return { name, type: 'integer', judging: 'all', notNull, ...rest }
  }
  const columns = [column('id', true), column('p', references.length > 0), column('v', true)]
  const name = `t${number}`
  return {
    number,
    sqlName: `"public"."${name}"`,
    qualifiedName: `public.${name}`,
    name,
    declared: { name, columns, keyColumns: [0] },
    columns,
    problem: null,
    triggers: [],
    cascades: [],
    references,
    keyConstraint: null,
    uniques: [],
    functions: {},
  }
}

/** Rows under keys 1 to 3, each in a version of its own. */
function randomRows(random: Random, before: readonly Seen[] | null): Seen[] {
  return [1n, 2n, 3n].flatMap((id) => {
    if (random.chance(0.35)) return []
    const among = before?.map(({ row }) => row[0]!) ?? [null, 1n, 2n, 3n]
    if (among.length === 0) return []
    const row = [id, random.pick(among), BigInt(random.below(2))]
    return [{ xmin: String(random.below(1_000_000)), row }]
  })
}

interface Sample {
  readonly text: string
  readonly tables: Table[]
  readonly plan: JoinPlan
  readonly refers: readonly boolean[]
  readonly written: readonly boolean[]
  readonly kinds: readonly string[]
  readonly own: readonly boolean[]
  readonly extra: boolean
  /** Whether `t0.id = 2`, which is what t1 refers to. */
  readonly isFixed: boolean
}

function randomSample(random: Random): Sample {
  const count = 2 + random.below(2)
  const refers = Array.from({ length: count }, (_, i) => i > 0 && random.chance(0.4))
  const tables = refers.map((does, i) =>
    makeTable(i, does ? [{ column: 'p', to: `"public"."t${i - 1}"`, key: 'id' }] : []),
  )
  const kinds = refers.map((_, i) => {
    if (i > 0 && random.chance(0.1)) return 'CROSS JOIN'
    return i > 0 && random.chance(0.35) ? 'LEFT JOIN' : 'JOIN'
  })
  const isFixed = random.chance(0.2)
  const own = refers.map(() => random.chance(0.4))
  const extra = random.chance(0.1)
  const where = own.flatMap((has, i) => (has && kinds[i] !== 'LEFT JOIN' ? [`t${i}.v = 1`] : []))
  if (isFixed) where.push(random.chance(0.5) || kinds[1] !== 'JOIN' ? 't0.id = 2' : 't1.p = 2')
  if (extra) where.push('t0.v <= t1.v')
  let text = 'SELECT * FROM t0'
  for (let i = 1; i < count; i++) {
    const sides = random.chance(0.5) ? [`t${i}.p`, `t${i - 1}.id`] : [`t${i - 1}.id`, `t${i}.p`]
    const more = own[i] ? ` AND t${i}.v = 1` : ''
    const on = kinds[i] === 'CROSS JOIN' ? '' : ` ON ${sides.join(' = ')}`
    text += ` ${kinds[i]} t${i}${on}${kinds[i] === 'LEFT JOIN' ? more : ''}`
  }
  if (where.length > 0) text += ` WHERE ${where.join(' AND ')}`
  const shape = shapeOf(text)
  const found = tablesIn(shape).map(({ name }) => tables.find((table) => table.name === name)!)
  const plan = planJoin({ text, words: shape.words, values: [], join: shape.join!, tables: found })
  return {
    text,
    tables,
    plan,
    refers,
    written: refers.map(() => random.chance(0.6)),
    kinds,
    own,
    extra,
    isFixed,
  }
}

function randomState(random: Random, { refers, written }: Sample, before: State | null): State {
  const state: Seen[][] = []
  refers.forEach((does, i) => {
    const same = before?.[i]
    const isKept = same !== undefined && !written[i]
    const fresh = randomRows(random, does ? state[i - 1]! : null)
    // Most rows stay as they are.
    const mixed = [1n, 2n, 3n].flatMap((id) => {
      const from = same !== undefined && random.chance(0.7) ? same : fresh
      return from.filter(({ row }) => row[0] === id)
    })
    const rows = isKept ? [...same] : mixed
    const has = (key: unknown) => state[i - 1]!.some(({ row }) => row[0] === key)
    state.push(does ? rows.filter(({ row }) => has(row[1])) : rows)
  })
  return state
}

/** Whether the tables that nobody writes are as they were, which foreign keys may have changed. */
function isPossible(state: State, before: State, { written }: Sample): boolean {
  return state.every((rows, i) => written[i] || rows.length === before[i]!.length)
}

/** What it returns, by versions. */
function evaluate(state: State, { kinds, own, extra, isFixed }: Sample): string {
  let found: (Seen | null)[][] = state[0]!.map((row) => [row])
  for (let i = 1; i < state.length; i++) {
    const isLeft = kinds[i] === 'LEFT JOIN'
    found = found.flatMap((tuple) => {
      const key = tuple[i - 1]?.row[0]
      const matching = state[i]!.filter(({ row }) => {
        return kinds[i] === 'CROSS JOIN' || (key !== undefined && row[1] === key)
      })
      const wanted = matching.filter(({ row }) => !(isLeft && own[i]) || row[2] === 1n)
      return wanted.length === 0 && isLeft
        ? [[...tuple, null]]
        : wanted.map((row) => [...tuple, row])
    })
  }
  const isWanted = (tuple: readonly (Seen | null)[]) =>
    tuple.every((seen, i) => kinds[i] === 'LEFT JOIN' || !own[i] || seen?.row[2] === 1n) &&
    (!isFixed || tuple[0]!.row[0] === 2n) &&
    (!extra || (tuple[1] != null && tuple[0]!.row[2]! <= tuple[1].row[2]!))
  const name = (seen: Seen | null, i: number) => (seen ? `t${i}:${seen.row}@${seen.xmin}` : '-')
  return found
    .filter(isWanted)
    .map((tuple) => tuple.map(name).join(' '))
    .sort()
    .join('\n')
}

/** The rows that would be asked for. */
function fetch(state: State, plan: JoinPlan): Seen[][] {
  const rowsOf = (at: number): Seen[] => {
    const { own, narrowedBy, table } = plan.tables[at]!
    const predicates = own.map(({ clause }) => parsePredicate(clause, table.declared.columns))
    const rows = state[at]!.filter(({ row }) => predicates.every((each) => each.matches(row)))
    if (narrowedBy === null) return rows
    const { one, other } = narrowedBy
    const values = rowsOf(other.table).map(({ row }) => row[other.column])
    return rows.filter(({ row }) => row[one.column] !== null && values.includes(row[one.column]))
  }
  return plan.tables.map((_, at) => rowsOf(at))
}

function holds({ claims }: Pick<Proof, 'claims'>, state: State, tables: readonly Table[]): boolean {
  return claims.every(({ table, clause, rows }) => {
    const predicate = parsePredicate(clause.text, tables[table]!.declared.columns, clause.params)
    const name = ({ row, xmin }: Seen) => `${row}@${xmin}`
    const seen = state[table]!.filter(({ row }) => predicate.matches(row)).map(name)
    return seen.sort().join() === [...rows].map(name).sort().join()
  })
}

function compare(seed: number): { exact: number; open: number } {
  const random = new Random(seed)
  const sample = randomSample(random)
  const { tables, plan, written, text } = sample
  const state = randomState(random, sample, null)
  const result = evaluate(state, sample)
  const join: Join = {
    plan,
    rows: fetch(state, plan),
    rowCount: 0,
    atMost: Number.POSITIVE_INFINITY,
  }
  const proof = provenBy(join, ({ number }) => written[number]!)
  expectLimited(
    join,
    proof,
    result === '' ? 0 : result.split('\n').length,
    ({ number }) => written[number]!,
  )
  const supposed = { claims: supposedBy(join) }
  const why = `seed ${seed}: ${text}\n${JSON.stringify(proof.claims.map(({ clause }) => clause.text))}`
  expect(holds(proof, state, tables), why).toBe(true)
  expect(holds(supposed, state, tables), why).toBe(true)
  for (let i = 0; i < 40; i++) {
    const other = randomState(random, sample, state)
    if (!isPossible(other, state, sample)) continue
    const isSame = evaluate(other, sample) === result
    if (isSame) expect(holds(proof, other, tables), `sound, ${why}`).toBe(true)
    else {
      expect(proof.isExact && holds(proof, other, tables), `exact, ${why}`).toBe(false)
      expect(holds(supposed, other, tables), `supposed, ${why}`).toBe(false)
    }
  }
  return { exact: proof.isExact ? 1 : 0, open: proof.isExact ? 0 : 1 }
}

/** As many rows as there are may be all; fewer tell nothing, nor does it that nobody knows. */
function expectLimited(
  join: Join,
  proof: Proof,
  found: number,
  isWritten: (table: Table) => boolean,
): void {
  const atMost = (most: number) => provenBy({ ...join, rowCount: most, atMost: most }, isWritten)
  if (found > 0) expect(atMost(found)).toEqual(proof)
  const isOpen = join.plan.isPlain && join.plan.tables.some(({ table }) => isWritten(table))
  if (isOpen) expect(atMost(Math.max(0, found - 1))).toEqual({ claims: [], isExact: false })
}

describe('what a join proves', () => {
  const first = Number(process.env.ISOBAR_SEED ?? 1)
  const count = Number(process.env.ISOBAR_PROGRAMS ?? 500)

  it('is what brute force says', () => {
    let [exact, open] = [0, 0]
    for (let seed = first; seed < first + count; seed++) {
      const found = compare(seed)
      exact += found.exact
      open += found.open
    }
    // Both happen often.
    expect(exact).toBeGreaterThan(count / 10)
    expect(open).toBeGreaterThan(count / 10)
  })
})
