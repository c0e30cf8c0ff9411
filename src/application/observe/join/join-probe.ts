// A statement that joins tables, with one more column in its answer: the rows that it depended on,
// table by table, found on the same snapshot. They are beside the first row, and if there is none
// beside a row that is made for them, which the application does not see. Main function: joinProbe.

import { type Cells, LEVEL, type Probe, type Seen, TOLD_ROWS } from '../probe.ts'
import { quote, readCell } from '../table.ts'
import type { JoinPlan, PlannedTable } from './join-plan.ts'

export function joinProbe(text: string, end: number, plan: JoinPlan, level: boolean): Probe {
  const all = plan.tables.map((_, i) => rowsOf(plan, i)).join(', ')
  const told = `CASE WHEN row_number() OVER () = 1 THEN json_build_array(${all})::text END`
  const columns = [`${told} AS isobar_told`, ...(level ? [`${LEVEL} AS isobar_level`] : [])]
  const list = `isobar.*, ${columns.join(', ')}`
  const one = '(VALUES (1)) AS isobar_one LEFT JOIN'
  const added = `SELECT ${list} FROM ${one} (SELECT isobar_asked.*, true AS isobar_there FROM (`
  return {
    text: `${added}${text.slice(0, end)}\n) AS isobar_asked) AS isobar ON true`,
    hidden: columns.length + 1,
    visible: true,
    at: 0,
    length: added.length,
    grouped: false,
    addsRow: true,
    before: null,
    level,
  }
}

/** A list of the rows of a table, as lists of cells. */
function rowsOf(plan: JoinPlan, at: number): string {
  const { table, joined } = plan.tables[at]!
  const { alias } = joined.ref
  const columns = table.columns.map(({ name }) => `${alias}.${quote(name)}::text`)
  const cells = [`${alias}.xmin::text`, ...columns].join(', ')
  const rows = `SELECT json_build_array(${cells}) AS cells ${fromOf(plan, at)} LIMIT ${TOLD_ROWS + 1}`
  return `(SELECT json_agg(isobar_rows.cells) FROM (${rows}) AS isobar_rows)`
}

function fromOf(plan: JoinPlan, at: number): string {
  const { table, joined, own, narrowedBy } = plan.tables[at]!
  const conditions = own.map(({ sql }) => `(${sql}\n)`)
  if (narrowedBy !== null) {
    const { one, other } = narrowedBy
    const from = plan.tables[other.table]!
    const [mine, theirs] = [nameOf(plan.tables[at]!, one.column), nameOf(from, other.column)]
    conditions.push(`${mine} IN (SELECT ${theirs} ${fromOf(plan, other.table)})`)
  }
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  return `FROM ${table.sqlName} AS ${joined.ref.alias}${where}`
}

function nameOf({ table, joined }: PlannedTable, column: number): string {
  return `${joined.ref.alias}.${quote(table.columns[column]!.name)}`
}

/** Where the added cells have the rows. */
const [THERE, TOLD] = [0, 1]

/** Whether a row was made for what is told beside it. */
export function isMade(cells: Cells): boolean {
  return cells[THERE] === null
}

/** Table -> the rows that it told. */
export function readJoin(plan: JoinPlan, answer: readonly Cells[]): Seen[][] {
  const told = answer.find((cells) => cells[TOLD] !== null)?.[TOLD] ?? '[]'
  const lists = JSON.parse(told) as (Cells[] | null)[]
  return plan.tables.map(({ table }, i) =>
    (lists[i] ?? []).map((cells) => ({
      xmin: cells[0]!,
      row: table.columns.map((column, k) => readCell(column, cells[k + 1]!)),
    })),
  )
}
