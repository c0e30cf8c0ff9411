// Programs in the documentation, and the examples in the comments of what the package exports, are
// compiled against the declarations of the package, all in one go; those that need no server run.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blocksOf, ROOT } from './blocks.ts'

interface Program {
  readonly place: string
  readonly text: string
}

/** What programs of the documentation take as given: the reader's own. */
const GIVEN = `
declare const pool: import('pg').Pool
declare const text: string
declare const error: unknown
declare const result: import('isobar').CheckResult
declare function report(...told: unknown[]): void
declare const history: import('isobar').History
declare const actors: Record<string, () => Promise<unknown>>
declare function before(): Promise<unknown>
declare const reset: typeof before
declare function book(...request: unknown[]): Promise<unknown>
declare function transfer(...request: unknown[]): Promise<unknown>
declare function recordTransfers(): Promise<import('isobar').History>
declare function tryToBook(...request: unknown[]): Promise<unknown>
declare const { expect }: Pick<typeof import('vitest'), 'expect'>
declare const { readFileSync, writeFileSync }: typeof import('node:fs')
declare const { race }: typeof import('isobar/race')
`

const DOORS = ['index', 'application/pg', 'application/race/race', 'application/embedded']
const CHUNKS = ['history', 'arguments', 'check-result', 'hooks', 'to-be-isolated']

/** The examples of the reference: behind @example, up to the next tag or the end of the comment. */
function examples(): Program[] {
  const files = [...DOORS, ...CHUNKS.map((name) => `chunks/${name}`)]
  return files.flatMap((name) => {
    const declarations = readFileSync(join(ROOT, `dist/${name}.d.ts`), 'utf8')
    const found = declarations.matchAll(/@example\n((?:\s*\* (?!@).*\n)+)/g)
    return [...found].map((match) => {
      const text = match[1]!.replace(/^\s*\* /gm, '')
      return { place: `${name}: ${text.split('\n')[0]}`, text }
    })
  })
}

const BLOCKS = blocksOf('program')
/** An example leaves out what it imports. */
const IMPORTS = `import { BudgetExceeded, InputError, InternalError, UsageError } from 'isobar'
import { certify, check, checkSync, describeShape, differ, generate, implies, parseHistory, render, renderNotation, shrink, verify, writeHistory } from 'isobar'
import { type Recorded, record } from 'isobar/pg'
import { toBeIsolated } from 'isobar/vitest'
import { race } from 'isobar/race'
import { startPostgres } from 'isobar/embedded'
import pg from 'pg'
`
const programs: Program[] = [
  ...BLOCKS,
  ...examples().map(({ place, text }) => ({ place, text: `${IMPORTS}${text}` })),
]

const folder = mkdtempSync(join(tmpdir(), 'isobar-programs-'))
const modules = join(folder, 'node_modules')

beforeAll(() => {
  mkdirSync(modules)
  for (const name of ['pg', 'vitest', 'libsql', '@types', '@tursodatabase']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }
  symlinkSync(ROOT, join(modules, 'isobar'))
  writeFileSync(join(folder, 'package.json'), '{"name":"reader","type":"module"}')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What the compiler says of programs, by their places. */
function compile(all: readonly Program[]): string[] {
  writeFileSync(join(folder, 'given.d.ts'), GIVEN)
  const booking = 'export declare function bookRoom(...request: unknown[]): Promise<unknown>'
  writeFileSync(join(folder, 'booking.d.ts'), booking)
  const files = all.map(({ text }, i) => {
    const file = join(folder, `program-${i}.ts`)
    writeFileSync(file, `${text}\nexport {}\n`)
    return file
  })
  const program = ts.createProgram([join(folder, 'given.d.ts'), ...files], {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
    types: ['node'],
    strict: true,
    noImplicitAny: false, // half of them are JavaScript
    strictNullChecks: false,
    useUnknownInCatchVariables: false,
    skipLibCheck: true,
    noEmit: true,
  })
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    const at = /program-(\d+)\.ts$/.exec(file?.fileName ?? '')?.[1]
    const place = at === undefined ? file?.fileName : all[Number(at)]!.place
    return `${place}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
}

describe('the programs of the documentation', () => {
  it('compile, the examples of the reference among them', () => {
    const names = [
      'certify',
      'check',
      'checkSync',
      'differ',
      'generate',
      'shrink',
      'verify',
      'race',
    ]
    const shown = examples()
      .map(({ text }) => text)
      .join('\n')
    expect(names.filter((name) => !shown.includes(`${name}(`))).toEqual([])
    const wrong = { place: 'wrong', text: "import { check } from 'isobar'\nawait check(7)\n" }
    const complaints = compile([...programs, wrong])
    expect(complaints.filter((line) => !line.startsWith('wrong: '))).toEqual([])
    expect(complaints).toHaveLength(1)
  })

  /** What the program of a page says that it prints, in comments behind console.log. */
  const printing = BLOCKS.filter(({ text }) => /console\.log\(.*\/\/ /.test(text))

  it.each(printing.map(({ place, text }) => [place, text]))(
    'print what they say: %s',
    (_, text) => {
      const file = join(folder, text!.includes('require(') ? 'program.cjs' : 'program.mjs')
      writeFileSync(file, text!)
      const { stdout, stderr } = spawnSync(process.execPath, [file], {
        cwd: folder,
        encoding: 'utf8',
      })
      expect(stderr).toBe('')
      const said = [...text!.matchAll(/console\.log\(.*\/\/ (\[.*?\]|\S+)/g)].map(
        (match) => match[1],
      )
      expect(stdout.trimEnd().split('\n')).toEqual(said)
    },
  )

  it('print something, some of them', () => {
    expect(printing).toHaveLength(2)
  })
})
