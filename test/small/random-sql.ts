// Seeded random small SQL histories. The transactions are made one after another, in the order of a
// pretended commit order, each with a set of earlier transactions that it sees: all of them, a
// prefix, a set closed under what those saw, any set, or one that grows from statement to
// statement. A statement returns the rows that satisfy its predicate in the newest versions seen;
// now and then it sees another version, or returns what it should not. So every level is satisfied
// by many of the histories and violated by many. Levels are mixed; aborted and indeterminate
// transactions, rows deleted, brought back and written twice, local reads, a second table and names
// for versions passed over, and inserts that fail on a row that is there come in by shares of their
// own. Main function: randomSql.

import { Random } from '../../src/base/random.ts'
import {
  type Cell,
  isCapital,
  SQL_LEVELS,
  type SqlDraft,
  type SqlDraftEvent,
  type SqlDraftRow,
  type SqlDraftTxn,
  type SqlLevel,
} from './sql-draft.ts'

export interface SqlShape {
  readonly sessions: number
  readonly txns: number // at most 30
  readonly maxEvents: number // statements per transaction
  readonly rows: readonly string[]
  readonly levels: readonly SqlLevel[]
  readonly sight: 'all' | 'prefix' | 'causal' | 'any' | 'growing'
  readonly selects: number // share of statements
  readonly stale: number // share of rows seen in another version than the newest
  readonly wrong: number // share of rows returned or passed over against the predicate
  readonly unsound: number // share of rows seen in a version that is aborted, intermediate, unknown
  readonly named: number // share of rows passed over whose version is named
  readonly aborted: number // share of transactions
  readonly indeterminate: number // share of transactions
  readonly doubled: number // share of rows selected in two versions at once
  readonly audits: number // share of transactions that are audits
  readonly refused: number // share of statements before which an insert fails on a row
}

/** A shape of its own for each seed, at most six transactions; `fixed` overrides parts of it. */
export function sqlShapeOf(seed: number, fixed: Partial<SqlShape> = {}): SqlShape {
  const random = new Random(seed)
  const sometimes = (probability: number, value: number) => (random.chance(probability) ? value : 0)
  const shape: SqlShape = {
    sessions: 2 + random.below(4),
    txns: random.pick([4, 5, 5, 6]),
    maxEvents: random.pick([2, 3, 3, 4]),
    rows: random.pick([
      ['x', 'y'],
      ['x', 'y'],
      ['x', 'y', 'z'],
      ['x', 'y', 'U'],
    ]),
    levels: random.chance(0.6)
      ? SQL_LEVELS
      : random.pick([
          ['rc', 'ser'],
          ['rc', 'si'],
          ['cc', 'ser'],
          ['pc', 'ra', 'si'],
        ] as const),
    sight: random.pick(['all', 'prefix', 'prefix', 'causal', 'causal', 'any', 'growing'] as const),
    selects: random.pick([0.3, 0.4, 0.5]),
    stale: sometimes(0.6, random.pick([0.2, 0.4, 0.7])),
    wrong: sometimes(0.06, 0.15),
    unsound: sometimes(0.08, 0.15),
    named: random.pick([0, 0, 0.3, 1]),
    aborted: sometimes(0.3, random.pick([0.25, 0.5])),
    indeterminate: sometimes(0.3, random.pick([0.3, 0.6])),
    doubled: sometimes(0.05, 0.1),
    audits: sometimes(0.15, 0.4),
    refused: sometimes(0.25, 0.3),
  }
  return { ...shape, ...fixed }
}

export function randomSql(seed: number, shape = sqlShapeOf(seed)): SqlDraft {
  return new SqlMaker(new Random(seed ^ 0x5e1ec7), shape).run()
}

type Test = (name: string, cell: number | null) => boolean

/** WHERE clauses and what they mean; most ask for what changes. */
const CLAUSES: readonly (readonly [string, Test])[] = [
  ['v = 0', (_, cell) => cell === 0],
  ['v = 1', (_, cell) => cell === 1],
  ['v <> 1', (_, cell) => cell !== null && cell !== 1],
  ['v >= 1', (_, cell) => cell !== null && cell >= 1],
  ['v IS NULL OR v < 1', (_, cell) => cell === null || cell < 1],
  ['v BETWEEN 1 AND 2', (_, cell) => cell !== null && cell >= 1 && cell <= 2],
  ["id = 'x'", (name) => name === 'x'],
  ["id > 'x' AND v = 1", (name, cell) => name > 'x' && cell === 1],
  ['true', () => true],
]

const CELLS: readonly (number | null)[] = [0, 0, 0, 1, 1, 1, 2, null]

interface Version {
  readonly id: string
  readonly by: number // -1: the initial state
  readonly cell: Cell
}

class SqlMaker {
  private readonly versions = new Map<string, Version[]>() // row -> versions, in pretended order
  private readonly hidden = new Map<string, Version[]>() // row -> versions nobody should see
  private readonly sees: number[] = [] // txn -> mask of those it sees in the end
  private own = new Map<string, Version>() // row -> last version of the current transaction
  private writeCount = 0

  constructor(
    private readonly random: Random,
    private readonly shape: SqlShape,
  ) {}

  run(): SqlDraft {
    const { random, shape } = this
    const initial = new Map<string, Cell>()
    for (const name of shape.rows) {
      const cell = random.chance(0.25) ? undefined : random.pick(CELLS)
      initial.set(name, cell)
      this.versions.set(name, [{ id: '0', by: -1, cell }])
      this.hidden.set(name, random.chance(0.3) ? [{ id: 'w99', by: -1, cell: 1 }] : [])
    }
    const sessions: SqlDraftTxn[][] = Array.from({ length: shape.sessions }, () => [])
    const earlier = new Array<number>(shape.sessions).fill(0) // session -> mask of its transactions
    for (let t = 0; t < shape.txns; t++) {
      const session = random.below(shape.sessions)
      sessions[session]!.push(this.makeTxn(t, earlier[session]!))
      earlier[session]! |= 1 << t
    }
    return { initial, sessions: sessions.filter((txns) => txns.length > 0) }
  }

  private makeTxn(t: number, session: number): SqlDraftTxn {
    const { random, shape } = this
    const status = this.chooseStatus()
    const events: SqlDraftEvent[] = []
    const count = 1 + random.below(shape.maxEvents)
    let sight = this.chooseSight(t, session)
    this.own = new Map()
    for (let i = 0; i < count; i++) {
      if (shape.refused > 0 && random.chance(shape.refused)) events.push(...this.refuse(sight))
      events.push(this.makeEvent(t, sight))
      if (shape.sight === 'growing') sight |= random.uint32() & ((1 << t) - 1)
    }
    this.sees.push(sight)
    const effective = status === 'committed' || (status === 'indeterminate' && random.chance(0.6))
    for (const [name, version] of this.own) {
      const target = effective ? this.versions : this.hidden
      target.get(name)!.push(version)
    }
    const level = random.pick(shape.levels)
    const isAudit = shape.audits > 0 && random.chance(shape.audits)
    return { status, level, events, ...(isAudit ? { audit: true as const } : {}) }
  }

  private chooseStatus(): SqlDraftTxn['status'] {
    const { random, shape } = this
    if (random.chance(shape.aborted)) return random.chance(0.7) ? 'rolled-back' : 'aborted'
    return random.chance(shape.indeterminate) ? 'indeterminate' : 'committed'
  }

  /** The transactions that transaction t sees, those before it in its session among them. */
  private chooseSight(t: number, session: number): number {
    const { random, shape } = this
    const all = (1 << t) - 1
    if (shape.sight === 'all') return all
    if (shape.sight === 'prefix') return (all >> random.below(t + 2)) | upTo(session)
    let mask = session | (random.uint32() & random.uint32() & all)
    if (shape.sight !== 'causal') return mask
    for (let other = t - 1; other >= 0; other--) {
      if ((mask >> other) & 1) mask |= this.sees[other]!
    }
    return mask
  }

  private makeEvent(t: number, sight: number): SqlDraftEvent {
    const { random, shape } = this
    const capital = isCapital(random.pick(shape.rows))
    const names = shape.rows.filter((name) => isCapital(name) === capital)
    const kind = random.chance(shape.selects)
      ? 'select'
      : random.pick(['insert', 'insert', 'update', 'update', 'delete'] as const)
    const write = kind === 'select' ? null : `w${++this.writeCount}`
    if (kind === 'insert') {
      const chosen = names.filter(() => random.chance(0.5))
      const rows = (chosen.length > 0 ? chosen : [random.pick(names)]).map((name) => {
        const row = { name, cell: random.pick(CELLS) }
        this.write(name, { id: write!, by: t, cell: row.cell })
        return row
      })
      return { kind, where: '', write, capital, rows, passed: [] }
    }
    const [where, test] = random.pick(CLAUSES)
    const rows: SqlDraftRow[] = []
    const passed: SqlDraftRow[] = []
    for (const name of names) {
      const version = this.chooseVersion(name, sight)
      const { id: from, cell: seen } = version
      const matches = seen !== undefined && test(name, seen)
      if (matches !== random.chance(shape.wrong)) {
        const cell = kind === 'update' ? random.pick(CELLS) : undefined
        rows.push(kind === 'update' ? { name, from, cell } : { name, from })
        if (write !== null) this.write(name, { id: write, by: t, cell })
        else if (shape.doubled > 0 && random.chance(shape.doubled)) {
          rows.push({ name, from: this.chooseVersion(name, sight).id })
        }
      } else if (random.chance(shape.named)) {
        passed.push({ name, from })
      }
    }
    return { kind, where, write, capital, rows, passed }
  }

  /** An insert that fails, if the row that it would bring is there. */
  private refuse(sight: number): SqlDraftEvent[] {
    const { random, shape } = this
    const name = random.pick(shape.rows)
    const { id: from, cell } = this.chooseVersion(name, sight)
    if ((cell !== undefined) === random.chance(shape.wrong)) return []
    const rows = [{ name, from }]
    const capital = isCapital(name)
    return [{ kind: 'refused', where: '', write: null, capital, rows, passed: [] }]
  }

  private write(name: string, version: Version): void {
    const replaced = this.own.get(name)
    if (replaced) this.hidden.get(name)!.push(replaced)
    this.own.set(name, version)
  }

  /** The version of a row that a statement sees: mostly its own, else the newest in sight. */
  private chooseVersion(name: string, sight: number): Version {
    const { random, shape } = this
    const versions = this.versions.get(name)!
    const hidden = this.hidden.get(name)!
    if (hidden.length > 0 && random.chance(shape.unsound)) return random.pick(hidden)
    const own = this.own.get(name)
    if (own && !random.chance(shape.unsound)) return own
    if (random.chance(shape.stale)) return random.pick(versions)
    let newest = versions[0]!
    for (const version of versions) {
      if (version.by >= 0 && (sight >> version.by) & 1) newest = version
    }
    return newest
  }
}

/** The mask of all bits up to the highest one set. */
function upTo(mask: number): number {
  return mask === 0 ? 0 : (2 << (31 - Math.clz32(mask))) - 1
}
