// The command line: the only place that catches errors and decides how the process ends.

import { Command, CommanderError } from 'commander'
import { BudgetExceeded, DatabaseError, InputError, UsageError } from '../base/errors.ts'
import { inertLines, sentence } from '../base/inert.ts'
import { removeTemporaries } from '../files/temporary.ts'
import { withoutSecrets } from './command-line.ts'
import { EXIT } from './exit-codes.ts'
import { parseChoice } from './options.ts'
import { COLOUR_MODES, configureTerminal, surviveLostOutput } from './terminal.ts'
import { VERSION } from './version.ts'

type AddCommand = (program: Command, done: (code: number) => void) => void

/**
 * What commands are for, in the words of the help, and how they are loaded: on demand, for judging
 * a small history must not wait for database drivers and page layout.
 */
const TOPICS: Record<string, Record<string, () => Promise<AddCommand>>> = {
  'Begin here:': {
    demo: async () => (await import('./demo-command.ts')).addDemoCommand,
    explain: async () => (await import('./explain-command.ts')).addExplainCommand,
    differ: async () => (await import('./differ-command.ts')).addDifferCommand,
  },
  'Judge histories:': {
    check: async () => (await import('./check-command.ts')).addCheckCommand,
    watch: async () => (await import('./watch-command.ts')).addWatchCommand,
    verify: async () => (await import('./verify-command.ts')).addVerifyCommand,
    report: async () => (await import('./report-command.ts')).addReportCommand,
    shrink: async () => (await import('./shrink-command.ts')).addShrinkCommand,
    workload: async () => (await import('./workload-command.ts')).addWorkloadCommand,
  },
  'Test a database, make histories:': {
    conformance: async () => (await import('./conformance-command.ts')).addConformanceCommand,
    run: async () => (await import('./run-command.ts')).addRunCommand,
    fleet: async () => (await import('./fleet-command.ts')).addFleetCommand,
    proxy: async () => (await import('./proxy-command.ts')).addProxyCommand,
    replay: async () => (await import('./replay-command.ts')).addReplayCommand,
    generate: async () => (await import('./generate-command.ts')).addGenerateCommand,
  },
  'Look at histories, convert them:': {
    serve: async () => (await import('./serve-command.ts')).addServeCommand,
    stats: async () => (await import('./stats-command.ts')).addStatsCommand,
    convert: async () => (await import('./convert-command.ts')).addConvertCommand,
  },
  'This program:': {
    doctor: async () => (await import('./doctor-command.ts')).addDoctorCommand,
    completion: async () => (await import('./completion-command.ts')).addCompletionCommand,
  },
}

/** Runs a command and sets the exit code of the process. */
export async function main(argv: readonly string[]): Promise<void> {
  surviveLostOutput()
  process.on('exit', removeTemporaries)
  process.exitCode = EXIT.internal
  process.exitCode = await run(argv)
}

/** Runs a command; returns the exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  let code: number = EXIT.satisfied
  const program = await buildProgram(argv, (result) => {
    code = result
  })
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (error) {
    return explain(error, argv)
  }
}

/** The program with the command that is called, or with all of them. */
export async function buildProgram(
  argv: readonly string[],
  done: (code: number) => void,
): Promise<Command> {
  const program = new Command('isobar')
  program
    .description('Is your database as isolated as it says? Judges recorded histories exactly.')
    .version(VERSION, '-V, --version', 'print the version')
    .option('-q, --quiet', 'no progress, and no text but what an option such as --json asks for')
    .option('--color <when>', `colours: ${COLOUR_MODES.join(', ')}`, 'auto')
    .configureHelp({ showGlobalOptions: true })
    .hook('preAction', () => {
      const { quiet, color } = program.opts<{ quiet?: boolean; color: string }>()
      const colour = parseChoice(color, '--color', COLOUR_MODES)
      configureTerminal({ quiet: quiet === true, colour })
    })
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`${renderComplaint(text, argv)}\n`) })
    .showSuggestionAfterError()
    .addHelpText(
      'after',
      `
Exit codes: 0 satisfied, 1 violated, 2 usage or input, 3 unknown, 4 database, 70 internal error;
130 Ctrl-C, 143 SIGTERM, 129 SIGHUP: nothing is left behind.
Every command explains itself: isobar check --help`,
    )
  const isSetting = (word: string) =>
    word.startsWith('-') || (COLOUR_MODES as readonly string[]).includes(word)
  const first = argv.find((word) => !isSetting(word)) ?? ''
  const isCommand = Object.values(TOPICS).some((commands) => Object.hasOwn(commands, first))
  const isAlone = isCommand && first !== 'completion' // which knows all others
  for (const [topic, commands] of Object.entries(TOPICS)) {
    for (const [name, load] of Object.entries(commands)) {
      if (isAlone && name !== first) continue
      program.commandsGroup(topic)
      ;(await load())(program, done)
    }
  }
  for (const command of program.commands) command.exitOverride()
  program.helpCommand('help [command]', 'say what a command does').commandsGroup('')
  return program
}

/** Commander repeats what it was given, and may add a line of its own. */
function renderComplaint(text: string, argv: readonly string[]): string {
  const [what = '', ...suggestion] = text.trimEnd().split('\n(Did you mean ')
  const lines = [
    sentence(withoutSecrets(what, argv)),
    ...suggestion.map((s) => `(Did you mean ${s}`),
  ]
  return inertLines(lines.join('\n')).replace(/^error: /, 'isobar: ')
}

/** Prints what went wrong on standard error; returns the exit code. */
function explain(error: unknown, argv: readonly string[]): number {
  if (error instanceof CommanderError) {
    const shown = ['commander.helpDisplayed', 'commander.version']
    // Help that nobody asked for is shown where no command is given.
    if (argv.length > 0) shown.push('commander.help')
    return shown.includes(error.code) ? EXIT.satisfied : EXIT.usage
  }
  const complain = (message: string, hint: string | null, code: number) => {
    const told = withoutSecrets(`isobar: ${message}\n${hint ? `hint: ${hint}\n` : ''}`, argv)
    process.stderr.write(inertLines(told))
    return code
  }
  if (error instanceof UsageError) return complain(error.message, error.hint, EXIT.usage)
  if (error instanceof InputError) return complain(error.describe(), error.hint, EXIT.usage)
  if (error instanceof DatabaseError) return complain(error.message, error.hint, EXIT.database)
  if (error instanceof BudgetExceeded) {
    return complain(error.message, 'raise --memory or --budget', EXIT.unknown)
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  const hint = 'this is a bug in isobar; please report it'
  return complain(`internal error: ${stack}`, hint, EXIT.internal)
}
