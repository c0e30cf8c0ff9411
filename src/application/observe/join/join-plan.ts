// How the rows are found that a join depended on. Each condition concerns one table (its own),
// makes columns of two equal, or is something else. Tables hang together by equalities, as trees: a
// table that has conditions of its own, or that nothing leads to, is asked for all rows that
// satisfy them; any other for those that match rows of the table it hangs on. Whatever the
// statement returned follows from these rows. Main function: planJoin.

import { quoteColumn } from '../../../history/clause-of-keys.ts'
import { renderPredicate } from '../../../sql/render.ts'
import { clauseOf, Unjudged } from '../clause.ts'
import { quote, type Table } from '../table.ts'
import { functionsIn, type Word } from '../words.ts'
import type { Condition, JoinedTable, JoinShape } from './join-shape.ts'

/** A column of one of the tables, by their positions. */
export interface JoinColumn {
  readonly table: number
  readonly column: number
}

/** Two columns that are equal in rows that belong together. */
export interface Edge {
  readonly one: JoinColumn
  readonly other: JoinColumn
}

/** A condition on one table, as a history has it and as the server is asked. */
export interface Own {
  readonly clause: string
  readonly sql: string
  /** Column that it makes equal to something, and that, if it is no more than this. */
  readonly fixes: { readonly column: number; readonly to: string } | null
}

export interface PlannedTable {
  readonly table: Table
  readonly joined: JoinedTable
  /** Its own conditions. */
  readonly own: readonly Own[]
  /** The table that its rows were matched with when they were asked for; null: with none. */
  readonly narrowedBy: Edge | null
}

export interface JoinPlan {
  readonly tables: readonly PlannedTable[]
  /** They make trees of the tables. */
  readonly edges: readonly Edge[]
  /** Whether conditions of its own and these edges are all that it asked for. */
  readonly isPlain: boolean
}

export interface AskedJoin {
  readonly text: string
  readonly words: readonly Word[]
  readonly values: readonly unknown[]
  readonly join: JoinShape
  readonly tables: readonly Table[]
}

export function planJoin(asked: AskedJoin): JoinPlan {
  const sorted = new Sorting(asked)
  const { edges, isForest } = treesOf(sorted.equalities, asked.tables.length)
  sorted.passOn(edges)
  const narrowed = narrowing(asked.join, sorted.own, edges)
  const tables = asked.join.tables.map(
    (joined, i): PlannedTable => ({
      table: asked.tables[i]!,
      joined,
      own: sorted.own[i]!,
      narrowedBy: narrowed[i]!,
    }),
  )
  const hangs = tables.every(({ joined }, i) => !joined.isOptional || hangsOn(edges, i))
  return { tables, edges, isPlain: sorted.isPlain && isForest && hangs }
}

/** Whether an earlier table leads to it. */
function hangsOn(edges: readonly Edge[], table: number): boolean {
  return edges.some(({ one, other }) => {
    const [first, second] = [one.table, other.table].sort((a, b) => a - b)
    return second === table && first! < table
  })
}

/** The conditions of a join by what they concern. */
class Sorting {
  readonly own: Own[][]
  readonly equalities: Edge[] = []
  isPlain = true

  constructor(private readonly asked: AskedJoin) {
    const { join, tables } = asked
    this.own = tables.map(() => [])
    for (const condition of join.where) this.sort(condition, null)
    for (const [i, { on, isOptional }] of join.tables.entries()) {
      for (const condition of on) this.sort(condition, isOptional ? i : null)
    }
  }

  /** @param optional the table behind LEFT JOIN that it belongs to; null: it holds for all rows */
  private sort(condition: Condition, optional: number | null): void {
    const { tables } = this.asked.join
    const mentioned = this.mentionedIn(condition.words)
    const others = mentioned.filter((table) => tables[table]!.isOptional && table !== optional)
    const isBound = optional === null || mentioned.includes(optional)
    const isEarly = optional === null || mentioned.every((table) => table <= optional)
    // What LEFT JOIN has put into a row may be NULL for want of a row.
    const isHere = isBound && isEarly && (optional !== null || others.length === 0)
    const edge = isHere ? this.equalityIn(condition.words) : null
    if (edge !== null) this.equalities.push(edge)
    else if (!isHere || mentioned.length !== 1 || !this.addOwn(condition, mentioned[0]!))
      this.isPlain = false
  }

  private addOwn(condition: Condition, at: number): boolean {
    const { text, words, values, join, tables } = this.asked
    const { ref } = join.tables[at]!
    const table = tables[at]!
    if (mayFail(condition.words)) return false
    const qualifiers = [ref.aliasName, ref.name]
    const clause = clauseOf({ table, text, words, where: condition, qualifiers, values })
    if (clause instanceof Unjudged) return false
    this.own[at]!.push({
      clause: renderPredicate(clause.text, clause.params),
      sql: text.slice(condition.start, condition.end),
      fixes: this.fixedIn(condition.words, at),
    })
    return true
  }

  /** `a.id = $1` */
  private fixedIn(words: readonly Word[], at: number): Own['fixes'] {
    const equals = words.findIndex(({ value }) => value === '=')
    const column = equals < 0 ? null : this.columnIn(words.slice(0, equals))
    const [value, ...more] = words.slice(equals + 1)
    const isConstant = value !== undefined && ['parameter', 'number'].includes(value.kind)
    if (column?.table !== at || !isConstant || more.length > 0) return null
    return { column: column.column, to: value.value }
  }

  private equalityIn(words: readonly Word[]): Edge | null {
    const equals = words.findIndex(({ value }) => value === '=')
    if (equals < 0) return null
    const one = this.columnIn(words.slice(0, equals))
    const other = this.columnIn(words.slice(equals + 1))
    if (one === null || other === null || one.table === other.table) return null
    const [a, b] = [one, other].map(
      ({ table, column }) => this.asked.tables[table]!.columns[column]!,
    )
    // Numerics have several texts for one value.
    const isKnown = [a!, b!].every(({ type, judging }) => judging !== 'none' && type !== 'numeric')
    return isKnown && a!.type === b!.type && a!.isUuid === b!.isUuid ? { one, other } : null
  }

  /** The column that these words are; null if they are something else. */
  private columnIn(words: readonly Word[]): JoinColumn | null {
    const { join, tables } = this.asked
    if (words.some(({ kind, value }) => kind !== 'word' && kind !== 'name' && value !== '.'))
      return null
    const { length } = words
    if (length !== 1 && length !== 3) return null
    const name = words.at(-1)!.value
    const [first] = words
    const found = tables.flatMap((table, at) => {
      if (length === 3 && join.tables[at]!.ref.aliasName !== first!.value) return []
      const column = table.columns.findIndex((each) => each.name === name)
      return column < 0 ? [] : [{ table: at, column }]
    })
    return found.length === 1 ? found[0]! : null
  }

  /** The tables that a condition speaks of; of names that are not understood, all. */
  private mentionedIn(words: readonly Word[]): number[] {
    const { join, tables } = this.asked
    const mentioned = new Set<number>()
    words.forEach(({ kind, value }, i) => {
      if (kind !== 'word' && kind !== 'name') return
      const [before, after] = [words[i - 1]?.value, words[i + 1]?.value]
      if (after === '.') {
        const at = join.tables.findIndex(({ ref }) => ref.aliasName === value)
        if (at >= 0) mentioned.add(at)
      } else if (before !== '.' && after !== '(') {
        tables.forEach((table, at) => {
          if (table.columns.some(({ name }) => name === value)) mentioned.add(at)
        })
      }
    })
    return [...mentioned]
  }

  /** What makes one of two equal columns a constant makes the other one, too. */
  passOn(edges: readonly Edge[]): void {
    const { join, tables } = this.asked
    for (let changed = true; changed; ) {
      changed = false
      for (const { one, other } of edges) {
        for (const [from, to] of [
          [one, other],
          [other, one],
        ] as const) {
          if (join.tables[from.table]!.isOptional || join.tables[to.table]!.isOptional) continue
          const known = this.own[from.table]!.find(({ fixes }) => fixes?.column === from.column)
          const has = this.own[to.table]!.some(({ fixes }) => fixes?.column === to.column)
          if (!known || has) continue
          const name = tables[to.table]!.columns[to.column]!.name
          const value = this.valueOf(known)
          if (value === null) continue
          this.own[to.table]!.push({
            clause: `${quoteColumn(name)} = ${value}`,
            sql: `${join.tables[to.table]!.ref.alias}.${quote(name)} = ${known.fixes!.to}`,
            fixes: { column: to.column, to: known.fixes!.to },
          })
          changed = true
        }
      }
    }
  }

  /** The constant as the clause has it. */
  private valueOf({ clause }: Own): string | null {
    const at = clause.indexOf('=')
    return at < 0 ? null : clause.slice(at + 1).trim()
  }
}

const COMPUTES = new Set(['+', '*', '/', '%', '^'])
const CONVERTS = new Set('cast extract overlay position substring trim normalize'.split(' '))
const NEVER_FAIL = new Set('lower upper length'.split(' '))
const CONSTANTS = ['parameter', 'number', 'string']

/**
 * Whether a condition may end with an error, as by a division by zero: the rows of its table are
 * asked about it whether they have partners or not, and the application's own statement may never
 * come to those that have none.
 */
function mayFail(words: readonly Word[]): boolean {
  if (functionsIn(words).some((name) => !NEVER_FAIL.has(name))) return true
  return words.some(({ kind, value }, i) => {
    const [before, after] = [words[i - 1], words[i + 1]]
    if (kind === 'word') return after?.value === '(' && CONVERTS.has(value)
    if (kind !== 'symbol') return false
    if (value === '::') return !CONSTANTS.includes(before!.kind)
    const isSign = before?.kind === 'symbol' && before.value !== ')' && after?.kind === 'number'
    return COMPUTES.has(value) || (value === '-' && !isSign)
  })
}

/** The equalities that make trees, and whether these are all. */
function treesOf(equalities: readonly Edge[], count: number): { edges: Edge[]; isForest: boolean } {
  const group = Array.from({ length: count }, (_, i) => i)
  const edges: Edge[] = []
  for (const edge of equalities) {
    const [a, b] = [group[edge.one.table]!, group[edge.other.table]!]
    if (a === b) continue
    edges.push(edge)
    group.forEach((each, i) => {
      if (each === b) group[i] = a
    })
  }
  return { edges, isForest: edges.length === equalities.length }
}

/** For each table the one that its rows are to be matched with, seen from it; null: none. */
function narrowing(
  { tables }: JoinShape,
  own: readonly (readonly Own[])[],
  edges: readonly Edge[],
): (Edge | null)[] {
  const narrowed: (Edge | null)[] = tables.map(() => null)
  const isReached = tables.map(({ isOptional }, i) => !isOptional && own[i]!.length > 0)
  const spread = () => {
    for (let changed = true; changed; ) {
      changed = false
      for (const { one, other } of edges) {
        for (const [from, to] of [
          [one, other],
          [other, one],
        ] as const) {
          const isBack = tables[from.table]!.isOptional && from.table > to.table
          if (!isReached[from.table] || isReached[to.table] || isBack) continue
          narrowed[to.table] = { one: to, other: from }
          isReached[to.table] = true
          changed = true
        }
      }
    }
  }
  spread()
  for (let i = 0; i < tables.length; i++) {
    if (isReached[i]) continue
    isReached[i] = true
    spread()
  }
  return narrowed
}
