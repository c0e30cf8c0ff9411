// What a join proves of each of its tables. A row took part if it has partners all along the tree;
// whoever would have had, and did not come, was not there. That is always true, but is all there is
// to say only where no table can lose or gain a partner by what others wrote: because nobody wrote
// it, because a foreign key sees to it, or because LEFT JOIN asks for none. Else the rest stays
// open: rows without partners, which may matter or not (docs/record-your-app.md). Main functions:
// provenBy, supposedBy.

import { obtain } from '../../../base/maps.ts'
import { quoteColumn } from '../../../history/clause-of-keys.ts'
import { EVERY_ROW } from '../../../history/sql-events.ts'
import { renderSqlValue, type SqlValue } from '../../../sql/value.ts'
import type { Clause } from '../clause.ts'
import type { Seen } from '../probe.ts'
import type { Table } from '../table.ts'
import type { Edge, JoinColumn, JoinPlan } from './join-plan.ts'

/** A join that was answered. */
export interface Join {
  readonly plan: JoinPlan
  /** Table -> its rows that the statement depended on. */
  readonly rows: readonly (readonly Seen[])[]
  readonly rowCount: number
  /** How many rows it returns at most of those that it finds; 0: nobody knows. */
  readonly atMost: number
}

/** What is told of one table: a clause, and which rows of those that are known satisfy it. */
export interface Claim {
  readonly table: number
  readonly clause: Clause
  readonly rows: ReadonlySet<Seen>
}

export interface Proof {
  readonly claims: readonly Claim[]
  /** Whether they are all that the statement says. */
  readonly isExact: boolean
}

/**
 * What it proves, whatever else is true.
 * @param isWritten whether somebody may have written a table since the recording began
 */
export function provenBy(join: Join, isWritten: (table: Table) => boolean): Proof {
  const { plan } = join
  const varies = plan.tables.map(({ table }) => isWritten(table))
  if (!varies.includes(true)) return { claims: supposedBy(join), isExact: true }
  if (!plan.isPlain) return { claims: [], isExact: false }
  let first: Proof | null = null
  for (const roots of rootsOf(plan)) {
    const proof = new Tree(join, roots, varies).prove()
    if (proof.isExact) return proof
    first ??= proof
  }
  return first!
}

/** What determines the answer, and may be more than it depended on. */
export function supposedBy({ plan, rows }: Join): Claim[] {
  return plan.tables.flatMap(({ own, narrowedBy }, table) => {
    const parts = own.map(({ clause }) => clause)
    if (narrowedBy !== null) {
      const { one, other } = narrowedBy
      const values = valuesOf(rows[other.table]!, other.column)
      if (values.size === 0) return []
      parts.push(isAmong(plan, one, values))
    }
    return [{ table, clause: clauseOf(parts), rows: new Set(rows[table]!) }]
  })
}

function clauseOf(parts: readonly string[]): Clause {
  const [only, ...more] = new Set(parts)
  if (only === undefined) return { text: EVERY_ROW, params: [] }
  const text = more.length === 0 ? only : [only, ...more].map((part) => `(${part})`).join(' AND ')
  return { text, params: [] }
}

type Values = ReadonlyMap<string, SqlValue> // by how they are written

function valuesOf(rows: Iterable<Seen>, column: number): Values {
  const values = new Map<string, SqlValue>()
  for (const { row } of rows) {
    const value = row[column]!
    if (value !== null) values.set(renderSqlValue(value), value)
  }
  return values
}

function isAmong({ tables }: JoinPlan, { table, column }: JoinColumn, values: Values): string {
  const name = quoteColumn(tables[table]!.table.columns[column]!.name)
  return values.size === 1
    ? `${name} = ${[...values.keys()][0]}`
    : `${name} IN (${[...values.keys()].join(', ')})`
}

/** For every choice of tables to begin with, one in each tree. */
function* rootsOf(plan: JoinPlan): Generator<number[]> {
  const trees = new Map<number, number[]>() // first table -> those whose rows are all known
  const reached = plan.tables.map(() => -1)
  const spread = (from: number, tree: number) => {
    if (reached[from]! >= 0) return
    reached[from] = tree
    for (const { one, other } of plan.edges) {
      if (one.table === from) spread(other.table, tree)
      if (other.table === from) spread(one.table, tree)
    }
  }
  for (const table of plan.tables.keys()) spread(table, table)
  plan.tables.forEach(({ joined, narrowedBy }, i) => {
    const tree = obtain(trees, reached[i]!, () => [])
    if (narrowedBy === null && !joined.isOptional) tree.push(i)
  })
  const choices = [...trees.values()]
  const most = Math.max(...choices.map(({ length }) => length))
  for (let i = 0; i < most; i++) yield choices.map((tree) => tree[Math.min(i, tree.length - 1)]!)
}

/** An edge seen from the table that comes first. */
interface Branch {
  readonly parent: JoinColumn
  readonly child: JoinColumn
}

class Tree {
  private readonly branches: Branch[] = [] // parents before children
  private readonly reduced: readonly Set<Seen>[] // rows with partners in all branches below
  private readonly found: readonly Set<Seen>[] // rows that took part

  constructor(
    private readonly join: Join,
    private readonly roots: readonly number[],
    private readonly varies: readonly boolean[],
  ) {
    const left = new Set<Edge>(join.plan.edges)
    const order = [...roots]
    for (const table of order) {
      for (const edge of left) {
        const ends = [edge.one, edge.other]
        const parent = ends.find((end) => end.table === table)
        if (parent === undefined) continue
        const child = ends.find((end) => end !== parent)!
        left.delete(edge)
        this.branches.push({ parent, child })
        order.push(child.table)
      }
    }
    const inner = this.branches.filter((branch) => !this.isOptional(branch))
    this.reduced = join.rows.map((rows) => new Set(rows))
    for (const { parent, child } of inner.toReversed()) keep(this.reduced, parent, child)
    this.found = this.reduced.map((rows) => new Set(rows))
    for (const { parent, child } of this.branches) keep(this.found, child, parent)
  }

  prove(): Proof {
    const { plan } = this.join
    const nothing: Proof = { claims: [], isExact: false }
    const isTorn = this.branches.some(({ parent, child }) => {
      const { narrowedBy } = plan.tables[child.table]!
      return narrowedBy !== null && narrowedBy.other.table !== parent.table
    })
    // Trees that nothing joins show something only if each has something to show.
    const isBare = this.roots.some((root) => this.found[root]!.size === 0)
    const { rowCount, atMost } = this.join
    // Where nobody knows how many it left out, it need not have found none to return none.
    const isCut = atMost === 0 || (rowCount >= atMost && this.size > atMost)
    if (isTorn || isCut || (this.roots.length > 1 && isBare)) return nothing
    let isExact = true
    const among: [JoinColumn, Values][] = []
    for (const branch of this.branches) {
      const { parent, child } = branch
      among.push([child, valuesOf(this.found[parent.table]!, parent.column)])
      if (this.isTotal(branch)) continue
      const isFixed = this.isFixed(branch)
      if (!isFixed) isExact = false
      const partners = isFixed ? this.reduced : this.found
      among.push([parent, valuesOf(partners[child.table]!, child.column)])
    }
    const claims = plan.tables.flatMap(({ own }, table): Claim[] => {
      const limits = among.filter(([column]) => column.table === table)
      if (limits.some(([, values]) => values.size === 0)) return []
      const parts = own.map(({ clause }) => clause)
      for (const [column, values] of limits) parts.push(isAmong(plan, column, values))
      return [{ table, clause: clauseOf(parts), rows: this.found[table]! }]
    })
    return { claims, isExact }
  }

  /** How many rows are found by joining. */
  private get size(): number {
    const count = ({ row }: Seen, table: number): number => {
      let product = 1
      for (const branch of this.branchesOf(table)) {
        const { parent, child } = branch
        const value = row[parent.column]!
        let partners = 0
        for (const seen of this.found[child.table]!) {
          if (value !== null && seen.row[child.column] === value)
            partners += count(seen, child.table)
        }
        product *= this.isOptional(branch) ? Math.max(1, partners) : partners
      }
      return product
    }
    let size = 1
    for (const root of this.roots) {
      let sum = 0
      for (const seen of this.found[root]!) sum += count(seen, root)
      size *= sum
    }
    return size
  }

  private isOptional({ child }: Branch): boolean {
    return this.join.plan.tables[child.table]!.joined.isOptional
  }

  /** Whether every row of the parent has a partner, or needs none. */
  private isTotal(branch: Branch): boolean {
    if (this.isOptional(branch)) return true
    const { parent, child } = branch
    const { tables } = this.join.plan
    const [from, to] = [tables[parent.table]!, tables[child.table]!]
    const refers = refersTo(from.table, parent.column, to.table, child.column)
    // What it says of the key it says of the parent's column, too.
    const isFree = to.own.every(({ fixes }) =>
      from.own.some(
        (each) =>
          each.fixes?.column === parent.column &&
          fixes?.column === child.column &&
          each.fixes.to === fixes.to,
      ),
    )
    if (!refers || !isFree) return false
    const partners = valuesOf(this.reduced[child.table]!, child.column)
    const hasPartner = ({ row }: Seen) => partners.has(renderSqlValue(row[parent.column]!))
    if (!this.join.rows[parent.table]!.every(hasPartner)) return false
    return this.branchesOf(child.table).every((each) => this.isTotal(each))
  }

  /** Whether nobody changes the rows that it leads to, all of which are known. */
  private isFixed({ child }: Branch): boolean {
    if (this.join.plan.tables[child.table]!.narrowedBy !== null) return false
    const isConstant = (table: number): boolean =>
      !this.varies[table] && this.branchesOf(table).every((each) => isConstant(each.child.table))
    return isConstant(child.table)
  }

  private branchesOf(table: number): Branch[] {
    return this.branches.filter(({ parent }) => parent.table === table)
  }
}

/** Leaves rows of one table that have a partner in the other. */
function keep(rows: readonly Set<Seen>[], of: JoinColumn, partner: JoinColumn): void {
  const values = valuesOf(rows[partner.table]!, partner.column)
  for (const seen of rows[of.table]!) {
    if (!values.has(renderSqlValue(seen.row[of.column]!))) rows[of.table]!.delete(seen)
  }
}

/** Whether a foreign key sees to it that each row has a partner. */
function refersTo(from: Table, column: number, to: Table, key: number): boolean {
  const { name, notNull } = from.columns[column]!
  return from.references.some(
    (each) =>
      notNull &&
      each.column === name &&
      each.to === to.sqlName &&
      each.key === to.columns[key]!.name,
  )
}
