// Every block of code in the README and in docs/, and what kind of thing it is, by its language or
// by how it begins. A block of no kind fails test/docs/blocks.test.ts: each kind has a test that
// runs, compiles or reads all of its blocks. Main functions: BLOCKS, kindOf.

import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
// @ts-expect-error: it has no declarations
import markdownIt from 'markdown-it'

export const ROOT = resolve(import.meta.dirname, '../..')

export interface Block {
  /** `docs/levels.md:70` */
  readonly place: string
  readonly file: string
  readonly language: string
  readonly text: string
}

interface Token {
  readonly type: string
  readonly map: readonly number[]
  readonly info: string
  readonly content: string
}

/** Who runs, compiles or reads blocks of a kind. */
export const KINDS = {
  commands: 'commands.test.ts runs them',
  printed: 'test/readme.test.ts and demo-command.test.ts print it again',
  program: 'programs.test.ts compiles them; it runs some, test/library and test/application others',
  history: 'data.test.ts parses them',
  statements: 'data.test.ts parses them',
  drafts: 'data.test.ts parses them',
  json: 'data.test.ts reads them by their schema',
  yaml: 'data.test.ts reads them, commands.test.ts runs the steps in them',
  sql: 'data.test.ts parses them',
  grammar: 'grammar.test.ts makes texts by its rules, and parses them',
  outline: 'outline.test.ts compares it with the file of a verdict',
  python: 'test/application/proxy/command.test.ts runs it',
  told: 'commands.test.ts and test/application/race/docs.test.ts have it told again',
} as const
export type Kind = keyof typeof KINDS

/** Blocks that are like no other, by how they begin. */
const BEGINNINGS: ReadonlyMap<string, Kind> = new Map([
  ['history     =', 'grammar'],
  ['{"isobar":2, "path"', 'outline'],
  ['connection = psycopg2', 'python'],
  ['night 1 of plan', 'told'],
  ['race of ann, bob', 'told'],
])

export const BLOCKS: readonly Block[] = findBlocks()

function findBlocks(): Block[] {
  const pages = readdirSync(`${ROOT}/docs`).filter((name) => name.endsWith('.md'))
  return ['README.md', ...pages.map((name) => `docs/${name}`)].flatMap((file) => {
    const tokens: Token[] = markdownIt().parse(readFileSync(`${ROOT}/${file}`, 'utf8'), {})
    const code = tokens.filter(({ type }) => type === 'fence' || type === 'code_block')
    return code.map(({ map, info, content }) => ({
      place: `${file}:${map[0]! + 1}`,
      file,
      language: info,
      text: content,
    }))
  })
}

/** Null: nobody would notice if it were wrong. */
export function kindOf({ language, text }: Block): Kind | null {
  for (const [first, kind] of BEGINNINGS) if (text.startsWith(first)) return kind
  if (language === 'sh') return 'commands'
  if (language === 'js' || language === 'ts') return 'program'
  if (language === 'json' || language === 'yaml' || language === 'sql') return language
  if (language !== '') return null
  if (/^\$ isobar (check|demo)\b/.test(text)) return 'printed'
  if (text.startsWith('$ ')) return 'commands'
  if (text.startsWith('init: ')) return 'drafts'
  if (/^[A-Z]> /.test(text)) return 'statements'
  return /^(initial|s\d+:)/.test(text) || text.startsWith('{"isobar"') ? 'history' : null
}

export const blocksOf = (kind: Kind): Block[] => BLOCKS.filter((block) => kindOf(block) === kind)

/** Beginnings that no block has. */
export const unusedBeginnings = (): string[] =>
  [...BEGINNINGS.keys()].filter((first) => !BLOCKS.some(({ text }) => text.startsWith(first)))
