// The faults an SQL store can be asked to show, as one table: the weakest level that forbids each,
// and a script that shows it whatever the other transactions do. A script is a schedule over
// transactions a, b, … on one table, where P is a predicate that rows x and y satisfy:
//
//   a.begin  a.commit   commits whatever the level says
//   a.find              SELECT … WHERE P, as of its snapshot
//   a.findNow           SELECT … WHERE P, with everything that is committed by now
//   a.findWithout(x)    SELECT … WHERE P, but x is passed over
//   a.get(x)            SELECT … WHERE the primary key is x's
//   a.insert(x)         inserts x, a row that was never there before, and satisfies P
//   a.insertOther(x)    inserts x with values that do not satisfy P
//   a.fit(x)            UPDATE … WHERE the primary key is x's, after which x satisfies P
//   a.change(x)         UPDATE … WHERE the primary key is x's, whatever P says
//
// Why other transactions cannot explain a strike away: whoever changes x has seen it in the version
// that the script leaves, so it comes after the strike. A transaction that passed x over cannot
// have seen such a later version, since it (or, for lost-predicate-lock, a reader behind it) saw x
// in the version of the script.

import { assert, UsageError } from '../../base/errors.ts'
import type { LevelId } from '../../levels/levels.ts'
import { FAULTS, parseFaultList, type Requested, type Row, withSessions } from '../faults.ts'
import { castOf, type Placeable, roleOf } from '../placement.ts'

export interface SqlFault {
  readonly name: string
  /** The weakest level that forbids it. */
  readonly forbiddenFrom: LevelId
  readonly meaning: string
  readonly sessions: readonly string[]
  readonly script: string
}

export const SQL_FAULTS: readonly SqlFault[] = withSessions<Row<SqlFault>>([
  {
    name: 'stale-index',
    forbiddenFrom: 'rc',
    meaning: 'a statement misses a row that fits, since an index still has an older version',
    sessions: ['ab', 'c'],
    script:
      'a.begin a.insertOther(x) a.commit b.begin b.fit(x) b.commit ' +
      'c.begin c.get(x) c.findWithout(x) c.get(x) c.commit',
  },
  {
    name: 'phantom',
    forbiddenFrom: 'ra',
    meaning: 'a transaction asks twice, and a row that was committed in between turns up',
    script: 'a.begin a.find b.begin b.insert(x) b.commit a.findNow a.commit',
  },
  {
    name: 'lost-update',
    forbiddenFrom: 'si',
    meaning: 'two transactions update the same version of a row, and one update is lost',
    sessions: ['ab', 'c'],
    script:
      'a.begin a.insert(x) a.commit b.begin c.begin b.change(x) c.change(x) b.commit c.commit',
  },
  {
    name: 'lost-predicate-lock',
    forbiddenFrom: 'ser',
    meaning: 'two transactions look for rows, and each adds one that the other should have found',
    script:
      'a.begin b.begin a.find b.find a.insert(x) b.insert(y) a.commit b.commit ' +
      'c.begin c.find c.commit',
  },
])

export type SqlFaultRequest = Requested<SqlFault>

type Finding = 'find' | 'findNow' | 'findWithout' | 'get'
export type SqlVerb = 'begin' | 'commit' | Finding | 'insert' | 'insertOther' | 'fit' | 'change'

export interface SqlScriptStep {
  readonly txn: number // role: a is 0
  readonly verb: SqlVerb
  readonly row: number // x is 0, y is 1; NONE if none
}

export interface SqlScript extends Placeable {
  readonly fault: SqlFault
  readonly rowCount: number
  readonly steps: readonly SqlScriptStep[]
}

export function findSqlFault(name: string): SqlFault {
  const fault = SQL_FAULTS.find((known) => known.name === name)
  if (fault) return fault
  const hint = `SQL stores show ${SQL_FAULTS.map((known) => known.name).join(', ')}`
  const isOther = FAULTS.some((known) => known.name === name)
  throw new UsageError(
    isOther
      ? `${name} is a fault of registers and lists, not of an SQL store`
      : `unknown fault of an SQL store "${name}"`,
    hint,
  )
}

/** Parses `phantom:3,lost-update`. */
export function parseSqlFaults(text: string): SqlFaultRequest[] {
  return parseFaultList(text, findSqlFault)
}

export function sqlScriptOf(fault: SqlFault): SqlScript {
  const steps = fault.script.split(' ').map((text) => {
    const match = /^([a-c])\.([a-zA-Z]+)(?:\(([xy])\))?$/.exec(text)
    assert(match !== null, `a step of a fault script, not ${text}`)
    const [, txn = '', verb = '', row] = match
    return { txn: roleOf(txn), verb: verb as SqlVerb, row: ['x', 'y'].indexOf(row ?? '') }
  })
  const rowCount = Math.max(...steps.map((step) => step.row)) + 1
  return { ...castOf(fault.sessions), fault, rowCount, steps }
}
