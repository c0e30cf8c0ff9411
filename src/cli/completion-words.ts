// What a shell can complete: the commands and options as they describe themselves, and the words
// that options and arguments take. Main function: wordsOf.

import type { Command, Option } from 'commander'
import { ALGORITHMS } from '../check/general/strong-levels.ts'
import { hyphened, nameOf, TOPICS } from '../levels/glossary.ts'
import { CHAIN } from '../levels/levels.ts'
import { ORDER_WORDS } from '../levels/orders.ts'
import { levelWords } from '../levels/words.ts'
import { SHAPES } from '../pipeline/differ/shapes.ts'
import { LAYOUTS } from '../sim/layout.ts'
import { WATCHED_FORMATS, WATCHED_LEVELS } from '../watch/watcher.ts'
import { AIM_NAMES } from '../workload/aims.ts'
import { DISTRIBUTIONS } from '../workload/distributions.ts'
import { FLEET_ACTIONS } from './fleet-command.ts'
import { FORMAT_IDS } from './format-options.ts'
import { ABORTED_READS } from './options.ts'
import { PRESETS } from './presets.ts'
import { TAP_RULES } from './taps.ts'
import { COLOUR_MODES } from './terminal.ts'
import { ALL_SHAPES } from './workload-options.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

export interface CommandWords {
  readonly name: string
  readonly description: string
  readonly options: readonly OptionWords[]
  /** What its arguments may be, besides files. */
  readonly values: readonly string[]
}

export interface OptionWords {
  readonly long: string
  readonly short: string | null
  readonly description: string
  /** What follows it: nothing, a file, one of some words, several of them with commas, or anything. */
  readonly takes: 'nothing' | 'file' | 'word' | 'list' | 'anything'
  readonly values: readonly string[]
}

/** Option -> the words it takes, those of one command behind its name. */
export const OPTION_VALUES: Readonly<Record<string, readonly string[]>> = {
  '--level': levelWords(),
  '--db-level': CHAIN,
  '--store': CHAIN,
  '--format': FORMAT_IDS,
  '--to': FORMAT_IDS,
  '--shape': ALL_SHAPES,
  '--workload': ALL_SHAPES,
  '--aim': AIM_NAMES,
  '--preset': Object.keys(PRESETS),
  '--distribution': DISTRIBUTIONS,
  '--layout': LAYOUTS,
  '--conflicts': ['retry', 'abort'],
  '--algorithm': ALGORITHMS,
  '--session-order': ['on', 'off'],
  '--order': ORDER_WORDS,
  '--aborted-reads': ABORTED_READS,
  '--tap-rule': TAP_RULES,
  '--elle': ['edn', 'json'],
  '--color': COLOUR_MODES,
  'differ --shape': Object.keys(SHAPES),
  'watch --level': WATCHED_LEVELS,
  'watch --format': WATCHED_FORMATS,
  'proxy --to': ['postgres://localhost'],
}

const LISTS: ReadonlySet<string> = new Set(['--level'])

/** Command -> the words that its first argument may be. */
export const ARGUMENT_VALUES: Readonly<Record<string, readonly string[]>> = {
  completion: SHELLS,
  explain: TOPICS.map((topic) =>
    topic.kind === 'level' ? topic.entry.id : hyphened(nameOf(topic)),
  ),
  differ: levelWords(),
  run: ['embedded'],
  fleet: FLEET_ACTIONS,
  conformance: ['embedded'],
}

/** @returns the options of every command, and the commands */
export function wordsOf(program: Command): { options: OptionWords[]; commands: CommandWords[] } {
  const options = [...program.options.map((option) => optionWords(option)), HELP]
  const commands = program.commands.map((command) => ({
    name: command.name(),
    description: firstClause(command.description()),
    options: [
      ...command.options.map((option) => optionWords(option, command.name())),
      ...options.filter((o) => o.long !== '--version'),
    ],
    values: ARGUMENT_VALUES[command.name()] ?? [],
  }))
  const names = commands.map(({ name }) => name)
  commands.push({
    name: 'help',
    description: 'say what a command does',
    options: [],
    values: names,
  })
  return { options, commands }
}

const HELP: OptionWords = {
  long: '--help',
  short: '-h',
  description: 'display help for command',
  takes: 'nothing',
  values: [],
}

function optionWords(option: Option, command = ''): OptionWords {
  const long = option.long!
  const values = OPTION_VALUES[`${command} ${long}`] ?? OPTION_VALUES[long] ?? []
  const { short, description } = option
  return {
    long,
    short: short ?? null,
    description: firstClause(description),
    takes: takenBy(option, values),
    values,
  }
}

function takenBy(
  { long, flags, required, optional }: Option,
  values: readonly string[],
): OptionWords['takes'] {
  if (!required && !optional) return 'nothing'
  if (LISTS.has(long!)) return 'list'
  if (values.length > 0) return 'word'
  return /<(file|dir)>/.test(flags) ? 'file' : 'anything'
}

/** Menus are narrow. */
function firstClause(text: string): string {
  return text.split(/[;(]/)[0]!.trim()
}
