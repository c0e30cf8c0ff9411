// `isobar conformance`: plays scripted interleavings on a database at each of its levels, judges what
// its clients saw, and says what one really gets, and whether that is what is promised.

import type { Command } from 'commander'
import { stringify } from '../base/json.ts'
import { parseDuration } from '../base/quantities.ts'
import { Outputs } from '../files/output.ts'
import type { LevelId } from '../levels/levels.ts'
import { readDatabaseLevel } from '../levels/words.ts'
import { examine } from '../pipeline/conformance.ts'
import { Interrupted } from '../pipeline/run.ts'
import { ownLevel } from '../record/database.ts'
import type { Target } from '../record/target.ts'
import { parseTarget, TARGETS } from '../record/targets.ts'
import { renderConformance } from '../report/conformance-text.ts'
import { loadPageAssets } from '../report/page/assets.ts'
import { renderConformancePage } from '../report/page/conformance-page.ts'
import { SCHEDULES } from '../workload/schedules.ts'
import { EXIT } from './exit-codes.ts'
import { readPassword } from './options.ts'
import { Interrupt } from './signals.ts'
import { StatusLine } from './status-line.ts'
import { coloursFor, print, tell } from './terminal.ts'

interface Flags {
  level?: string
  patience: string
  passwordFile?: string
  json?: boolean
  report?: string
  force?: boolean
}

export function addConformanceCommand(program: Command, done: (code: number) => void): void {
  program
    .command('conformance')
    .description('say what a database really gives at each of its levels')
    .argument('[target]', TARGETS.map(({ form }) => form).join(', '), 'embedded')
    .option(
      '-l, --level <ids>',
      'levels to ask for, by our ids or by its own names (all it offers)',
    )
    .option('--patience <time>', 'how long the database may stay away', '15s')
    .option('--password-file <file>', 'where the password of the database is')
    .option('--json', 'print one JSON object, with every schedule as it went')
    .option('--report <file>', 'write an HTML matrix in which every cell opens its schedule')
    .option('--force', 'replace files that exist')
    .addHelpText('after', HELP)
    .action(async (target: string, flags: Flags) => done(await conformance(target, flags)))
}

const HELP = `
Plays ${SCHEDULES.length} interleavings of two or three transactions step by step (G0, G1a, … G2,
predicates, upserts, FOR UPDATE, deferred constraints), as the tests called Hermitage do. No answer
is expected of the database: what its clients saw is recorded and judged like any history. Held
against it is what the database documents (docs/databases.md).

Exit codes: 0 as promised, 1 weaker than promised, 2 usage, 4 the database cannot be used.

Examples:
  isobar conformance
  isobar conformance mysql://root@127.0.0.1/test --level 'repeatable read'
  isobar conformance sqlite:test.db --report matrix.html`

async function conformance(text: string, flags: Flags): Promise<number> {
  const target = parseTarget(text, process.env, readPassword(flags.passwordFile))
  const levels = flags.level === undefined ? null : levelsOf(flags.level, target)
  const outputs = new Outputs(flags.force)
  if (flags.passwordFile !== undefined) outputs.read(flags.passwordFile)
  if (flags.json) outputs.claim('-', '--json')
  const page = flags.report === undefined ? null : outputs.claim(flags.report, '--report')
  const line = new StatusLine()
  const interrupt = new Interrupt(target.tidyMs)
  interrupt.listen()
  try {
    const found = await examine({
      ...{ target, levels, signal: interrupt.signal, patienceMs: parseDuration(flags.patience) },
      onProgress: (level, { name }) => line.show(`${level}: ${name}`),
    })
    line.done()
    if (page) page.writeText(renderConformancePage(found, await loadPageAssets()))
    if (flags.json) await print(`${stringify(found)}\n`)
    else if (!page?.isStandard) await tell(renderConformance(found, coloursFor(process.stdout)))
    return found.levels.some(({ isWeaker }) => isWeaker) ? EXIT.violated : EXIT.satisfied
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    return interrupt.exitCode
  } finally {
    line.done()
    interrupt.ignore()
  }
}

/** Throws UsageError if the target does not offer one of them. */
function levelsOf(text: string, target: Target): LevelId[] {
  const ids = text.split(',').map((word) => readDatabaseLevel(word, target.product, target.levels))
  for (const id of ids) ownLevel({ ...target, name: target.product }, id)
  return ids
}
