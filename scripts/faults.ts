// Writes docs/faults.md from the table of faults: node --import tsx scripts/faults.ts && npm run
// format

import { writeFileSync } from 'node:fs'
import { renderNotation } from '../src/history/notation.ts'
import { CHAIN, type LevelId } from '../src/levels/levels.ts'
import { generate } from '../src/pipeline/generate.ts'
import { FAULTS, type Fault } from '../src/sim/faults.ts'

/** The document, as it should be. */
export function renderFaults(): string {
  return `# Faults

\`isobar generate --inject lost-update:3,long-fork\` has a simulated store misbehave. For each
strike a few transactions of the workload give way to others that show the fault, with planned
operations around it; the command prints which transactions and keys they are. Every level weaker than the first ✗ still
holds: a fault breaks what its name says and nothing else. \`ci\` is cut isolation.

${table(FAULTS, (fault) => fault)}

On lists (\`--shape append\`) a read tells more, and two faults break weaker levels too:

${table(
  FAULTS.filter((fault) => fault.onLists),
  (fault) => fault.onLists!,
)}

\`stale-read\` and \`real-time-violation\` show only in start and finish times, so they need a format
that holds them.

## Examples

One strike each, in a store that is otherwise strictly serializable.
${FAULTS.map(renderExample).join('')}`
}

interface Broken {
  readonly forbiddenFrom: LevelId
  readonly breaksCut: boolean
}

function table(faults: readonly Fault[], broken: (fault: Fault) => Broken): string {
  const rows = faults.map((fault) => {
    const { forbiddenFrom, breaksCut } = broken(fault)
    const from = CHAIN.indexOf(forbiddenFrom)
    const cells = [breaksCut, ...CHAIN.map((_, i) => i >= from)].map((no) => (no ? '✗' : '✓'))
    return `| \`${fault.name}\` | ${fault.meaning} | ${cells.join(' | ')} |`
  })
  const levels = ['ci', ...CHAIN]
  return [
    `| fault | what happens | ${levels.join(' | ')} |`,
    `|---|---|${levels.map(() => ':-:').join('|')}|`,
    ...rows,
  ].join('\n')
}

function renderExample(fault: Fault): string {
  const sessions = fault.sessions.length
  const transactions = sessions * Math.max(...fault.sessions.map((roles) => roles.length))
  const { history } = generate({
    seed: 1,
    workload: { sessions, transactions, keys: 4, shape: 'mini' },
    store: { level: 'sser', faults: [{ fault, count: 1 }] },
  })
  return `\n### ${fault.name}\n\n\`\`\`\n${renderNotation(history)}\`\`\`\n`
}

if (process.argv[1]?.endsWith('faults.ts')) {
  writeFileSync(new URL('../docs/faults.md', import.meta.url), renderFaults())
}
