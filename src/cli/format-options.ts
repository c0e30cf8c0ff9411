// The options that say in which format a history is read and written: the same letters and words in
// every command that does either. Main functions: addInputFormat, addOutputFormat.

import type { Command } from 'commander'
import { FORMATS } from '../formats/formats.ts'

export interface InputFormatFlags {
  format?: string
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

export function addOutputFormat(command: Command): Command {
  return command.option(
    '--to <id>',
    'format of the output; else by the ending of its name, else native',
  )
}
