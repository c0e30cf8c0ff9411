// The part of docs/faults.md on SQL stores, measured like the rest; see faults.ts.

import { checkMixed } from '../src/check/mixed/check-mixed.ts'
import { CHAIN, type LevelId } from '../src/levels/levels.ts'
import { generateSql } from '../src/pipeline/generate-sql.ts'
import { SQL_FAULTS, type SqlFault } from '../src/sim/sql/faults.ts'
import { SQL_SHAPES } from '../src/workload/sql/parameters.ts'

const LEVELS: readonly LevelId[] = CHAIN.filter((level) => level !== 'sser')

const REQUESTS = LEVELS.map((level) => ({ level }))

/** Histories for each fault and shape. */
const SEEDS = 3
const SIZE = { sessions: 5, transactions: 40, districts: 3 }

const isForbidden = (fault: SqlFault, level: LevelId) =>
  CHAIN.indexOf(level) >= CHAIN.indexOf(fault.forbiddenFrom)

export function renderSqlFaults(): string {
  return `## SQL stores

With \`--shape tpcc\`, \`tpcc-pc\`, \`twitter\` or \`sql\` the store runs SQL statements, and the faults are
about predicates. The transactions of a strike ask for the strongest level there is (\`ser\` with
\`--store ser+rc\`); asking for a fault that no transaction's level forbids is refused. The rows of a
strike are new ones: their keys are numbers from 1000000 on.

| fault | what happens | ${LEVELS.join(' | ')} |
|---|---|${LEVELS.map(() => ':-:').join('|')}|
${SQL_FAULTS.map(renderFault).join('\n')}

Measured: one strike in a store that is otherwise serializable, ${SEEDS} histories of ${SIZE.transactions} transactions for
each fault and each of the four shapes, judged at one level for all transactions. ✓ says that the
level holds in all of them; otherwise it was found violated in all of them, under these names.

| fault | levels | found as |
|---|---|---|
${SQL_FAULTS.map(renderDetection).join('\n')}
`
}

function renderFault(fault: SqlFault): string {
  const cells = LEVELS.map((level) => (isForbidden(fault, level) ? '✗' : '✓'))
  return `| \`${fault.name}\` | ${fault.meaning} | ${cells.join(' | ')} |`
}

/** A row for each run of levels at which the fault is found in the same way. */
function renderDetection(fault: SqlFault): string {
  const found = new Map<LevelId, Set<string>>(LEVELS.map((level) => [level, new Set()]))
  for (const shape of SQL_SHAPES) {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const store = { faults: [{ fault, count: 1 }], lag: 0 }
      const { history } = generateSql({ seed, workload: { ...SIZE, shape, levels: 'ser' }, store })
      for (const { level, verdict, anomalies } of checkMixed(history, REQUESTS)) {
        if (verdict !== (isForbidden(fault, level) ? 'violated' : 'satisfied')) {
          throw new Error(`${fault.name}, ${shape}, seed ${seed}: ${verdict} at ${level}`)
        }
        for (const { name } of anomalies) found.get(level)!.add(name)
      }
    }
  }
  const runs: { levels: LevelId[]; names: string }[] = []
  for (const level of LEVELS) {
    const names = [...found.get(level)!].sort().join(', ') || '✓'
    const last = runs.at(-1)
    if (last?.names === names) last.levels.push(level)
    else runs.push({ levels: [level], names })
  }
  return runs
    .map(({ levels, names }, i) => {
      return `| ${i === 0 ? `\`${fault.name}\`` : ''} | ${levels.join(' ')} | ${names} |`
    })
    .join('\n')
}
