// From parameters to a plan of SQL transactions: the same parameters and seed give the same plan.

import { Random } from '../../base/random.ts'
import type { SqlTable } from '../../history/sql-events.ts'
import { OWN_LEVELS } from '../../levels/levels.ts'
import type { SqlRow } from '../../sql/value.ts'
import { AliasTable } from '../distributions.ts'
import { type LevelChoice, parseLevelChoice } from './levels.ts'
import { type SqlParameters, type SqlShape, sqlParameters } from './parameters.ts'
import type { SqlPlan, SqlTask, TransactionKind } from './plan.ts'
import { RANDOM_SQL, RandomSqlChoices, randomSqlRows } from './random-sql.ts'
import { TPCC } from './tpcc.ts'
import { TpccChoices } from './tpcc-parts.ts'
import { TPCC_PC } from './tpcc-pc.ts'
import { TPCC_TABLES, tpccRows } from './tpcc-tables.ts'
import { TWITTER, TWITTER_TABLES, TwitterChoices, twitterRows } from './twitter.ts'

/** @param offered the levels that level `mixed` draws from */
export function planSql(given: Partial<SqlParameters>, offered = OWN_LEVELS): SqlPlan {
  const parameters = sqlParameters(given)
  const levels = parseLevelChoice(parameters.levels, offered)
  const random = new Random(parameters.seed)
  switch (parameters.shape) {
    case 'tpcc':
    case 'tpcc-pc': {
      const kinds = parameters.shape === 'tpcc' ? TPCC : TPCC_PC
      const rows = tpccRows(parameters, random.fork(1))
      return deal(parameters, levels, random, TPCC_TABLES, rows, kinds, new TpccChoices(parameters))
    }
    case 'twitter': {
      const rows = twitterRows(parameters, random.fork(1))
      const choices = new TwitterChoices(parameters)
      return deal(parameters, levels, random, TWITTER_TABLES, rows, TWITTER, choices)
    }
    case 'sql': {
      const choices = new RandomSqlChoices(parameters, random)
      const rows = randomSqlRows(choices, random.fork(1))
      return deal(parameters, levels, random, choices.tables, rows, RANDOM_SQL, choices)
    }
  }
}

/** The types of transactions that the shape has. */
export function kindNames(shape: SqlShape): string[] {
  const kinds = { tpcc: TPCC, 'tpcc-pc': TPCC_PC, twitter: TWITTER, sql: RANDOM_SQL }[shape]
  return kinds.map(({ name }) => name)
}

/** Draws a kind for every transaction, and deals them to the sessions in turn. */
function deal<Choices>(
  parameters: SqlParameters,
  levels: LevelChoice,
  random: Random,
  tables: readonly SqlTable[],
  rows: readonly (readonly SqlRow[])[],
  kinds: readonly TransactionKind<Choices>[],
  choices: Choices,
): SqlPlan {
  const drawn = new AliasTable(Float64Array.from(kinds, (kind) => kind.weight))
  const tasks: SqlTask[] = []
  for (let number = 0; number < parameters.transactions; number++) {
    const kind = kinds[drawn.next(random)]!
    const level = levels.levelOf(kind, random)
    const seed = random.uint32()
    const start = () => kind.run(choices, new Random(seed), number)
    tasks.push({ session: number % parameters.sessions, level, name: kind.name, start })
  }
  return { sessionCount: parameters.sessions, tables, rows, tasks, strongLevel: levels.strongest }
}
