// Statements that come again on a connection are prepared under names of ours, so that the server
// parses and plans them once: that takes it longer than to tell the columns that were added. The
// application must not notice, so it is done only where
//
// - the connection leads to the server itself: a pooler that hands connections from one process of
//   the server to the next may look for a name where it is not;
// - the text means the same whenever it is parsed: 'now' is the time of parsing, dates and numbers
//   in quotes are read by settings, and `*` is the columns of that time, which the server refuses
//   to change under a name;
// - nothing was asked for that may have dropped names, or changed what a text means.
//
// Main class: Reuse.

import type { Catalog } from './catalog.ts'
import type { DriverClient, DriverQuery } from './driver.ts'
import type { Statement } from './session.ts'
import type { Shape } from './shape.ts'
import type { Table } from './table.ts'

/** The server keeps what is prepared while the connection lives: some ten kilobytes each. */
const NAMES = 200
const REMEMBERED = 1000

/** How many names were made on a connection, which may be recorded several times. */
const made = new WeakMap<DriverClient, number>()

export class Reuse {
  private readonly names = new Map<Table, Map<string, string>>() // text as it is sent -> name
  private readonly once = new Set<string>() // texts that came once
  private edition = 0

  constructor(
    private readonly client: DriverClient,
    private readonly catalog: Catalog,
  ) {}

  /** The name to send a statement under, whose columns were added; undefined: none. */
  nameFor({ values, types }: DriverQuery, statement: Statement): string | undefined {
    const { shape, table, probe } = statement
    const { text } = probe!
    if (table === null) return undefined // a join
    // Without values the driver asks in a message that has no place for a name.
    if (!values?.length || Array.isArray(types)) return undefined
    if (this.edition !== this.catalog.edition) this.forget()
    const name = this.names.get(table)?.get(text)
    if (name !== undefined) return name
    if (this.once.has(text)) return this.prepare(shape, table, text)
    if (this.once.size >= REMEMBERED) this.once.clear()
    this.once.add(text)
    return undefined
  }

  private prepare(shape: Shape, table: Table, text: string): string | undefined {
    const count = made.get(this.client) ?? 0
    if (count >= NAMES || !isTimeless(shape) || this.callsOwn(shape)) return undefined
    made.set(this.client, count + 1)
    const name = `isobar_own_${count + 1}`
    const names = this.names.get(table) ?? new Map<string, string>()
    this.names.set(table, names.set(text, name))
    return name
  }

  /** A statement was answered. */
  follow(shape: Shape): void {
    if (shape.dropsPrepared || this.callsOwn(shape)) this.forget()
  }

  /** What was prepared may be gone, or mean something else. */
  forget(): void {
    this.names.clear()
    this.edition = this.catalog.edition
  }

  /** Functions of the user's own may do anything, and be replaced. */
  private callsOwn({ functions }: Shape): boolean {
    return functions.some((name) => this.catalog.traitsOf(name)?.does !== 'nothing')
  }
}

const READ_WHEN_PARSED = /\d|now|today|tomorrow|yesterday|allballs/i
const BEFORE_ALL = new Set(['.', ',', ')', 'select', 'all', 'distinct', 'returning'])

/** Whether the text means the same whenever it is parsed, as long as tables stay as they are. */
export function isTimeless({ words }: Shape): boolean {
  let strings = ''
  for (const [i, { kind, value }] of words.entries()) {
    if (value === '*' && BEFORE_ALL.has(words[i - 1]?.value ?? '')) return false
    // Strings on two lines are one: without the quotes between them.
    if (kind === 'string') strings += value.replaceAll("'", '')
  }
  return !READ_WHEN_PARSED.test(strings)
}
