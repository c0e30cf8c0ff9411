// The options that say in which format a history is read and written: the same letters and words in
// every command that does either. Main functions: addInputFormat, addOutputFormat,
// addDuplicateValues.

import type { Command } from 'commander'
import { FORMATS } from '../formats/formats.ts'

export interface InputFormatFlags {
  format?: string
}

export interface DuplicateFlags {
  duplicateValues?: boolean
}

export interface OutputFormatFlags {
  to?: string
}

export const FORMAT_IDS: readonly string[] = FORMATS.map((format) => format.id)

export function addInputFormat(command: Command): Command {
  return command.option(
    '-f, --format <id>',
    `format of the input (${FORMAT_IDS.join(', ')}); else by content`,
  )
}

/** For commands that know what to do with reads of which nobody knows whom they saw. */
export function addDuplicateValues(command: Command): Command {
  return command.option(
    '--duplicate-values',
    'let a key be given one value twice: a read may then have seen any of its writers',
  )
}

export function addOutputFormat(command: Command): Command {
  return command.option(
    '--to <id>',
    'format of the output; else by the ending of its name, else native',
  )
}
