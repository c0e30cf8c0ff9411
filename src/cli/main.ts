// The command line: the only place that catches errors and decides how the process ends.

import { Command, CommanderError } from 'commander'
import { DatabaseError, InputError, UsageError } from '../base/errors.ts'
import { addCheckCommand } from './check-command.ts'
import { addConvertCommand } from './convert-command.ts'
import { addDoctorCommand } from './doctor-command.ts'
import { EXIT } from './exit-codes.ts'
import { addGenerateCommand } from './generate-command.ts'
import { addReportCommand } from './report-command.ts'
import { addRunCommand } from './run-command.ts'
import { addShrinkCommand } from './shrink-command.ts'
import { addStatsCommand } from './stats-command.ts'
import { surviveClosedPipe } from './terminal.ts'
import { addVerifyCommand } from './verify-command.ts'
import { VERSION } from './version.ts'

const COMMANDS = [
  addCheckCommand,
  addStatsCommand,
  addVerifyCommand,
  addReportCommand,
  addGenerateCommand,
  addConvertCommand,
  addRunCommand,
  addDoctorCommand,
  addShrinkCommand,
]

/** Runs a command and sets the exit code of the process. */
export async function main(argv: readonly string[]): Promise<void> {
  surviveClosedPipe()
  process.exitCode = EXIT.internal
  process.exitCode = await run(argv)
}

/** Runs a command; returns the exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  let code: number = EXIT.satisfied
  const program = buildProgram((result) => {
    code = result
  })
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (error) {
    return explain(error)
  }
}

function buildProgram(done: (code: number) => void): Command {
  const program = new Command('isobar')
  program
    .description('Is your database as isolated as it says? Judges recorded histories exactly.')
    .version(VERSION, '--version', 'print the version')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'isobar: ')) })
    .showSuggestionAfterError()
    .addHelpText(
      'after',
      `
Exit codes: 0 satisfied, 1 violated, 2 usage or input, 3 unknown, 4 database, 70 internal error.
Every command explains itself: isobar check --help`,
    )
  for (const add of COMMANDS) add(program, done)
  for (const command of program.commands) command.exitOverride()
  return program
}

/** Prints what went wrong on standard error; returns the exit code. */
function explain(error: unknown): number {
  if (error instanceof CommanderError) {
    const shown = ['commander.helpDisplayed', 'commander.help', 'commander.version']
    return shown.includes(error.code) && error.exitCode === 0 ? EXIT.satisfied : EXIT.usage
  }
  if (error instanceof UsageError) return complain(error.message, error.hint, EXIT.usage)
  if (error instanceof InputError) return complain(error.describe(), error.hint, EXIT.usage)
  if (error instanceof DatabaseError) return complain(error.message, error.hint, EXIT.database)
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return complain(
    `internal error: ${stack}`,
    'this is a bug in isobar; please report it',
    EXIT.internal,
  )
}

function complain(message: string, hint: string | null, code: number): number {
  process.stderr.write(`isobar: ${message}\n${hint ? `hint: ${hint}\n` : ''}`)
  return code
}
