// The options of a benchmark: help instead of measuring where that is asked for, and a refusal where
// an option is mistyped, before anything runs. Main function: readOptions.

import { Command } from 'commander'

export type BenchOption = readonly [flags: string, about: string, usual?: string]

/** @param script what runs it, e.g. `npm run bench --` */
export function readOptions<Flags extends object>(
  script: string,
  about: string,
  options: readonly BenchOption[],
  argv: readonly string[] = process.argv.slice(2),
): Flags {
  const command = new Command(script).description(about).exitOverride((error) => {
    process.exit(error.exitCode === 0 ? 0 : 2)
  })
  for (const [flags, text, usual] of options) command.option(flags, text, usual)
  return command.parse([...argv], { from: 'user' }).opts<Flags>()
}
