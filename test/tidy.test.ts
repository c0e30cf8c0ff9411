// The house rules as a test: who may import whom, how long things may get, what may not be called.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')

/** Rows `| 1 | \`graph\`, \`levels\` | ... |` of the table under a heading of ARCHITECTURE.md. */
function ranksUnder(heading: string): Record<string, number> {
  const [, part = ''] = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8').split(`${heading}\n`)
  const [table] = part.split('\n## ')
  const rows = [...table!.matchAll(/^\| (\d+) \|([^|]*)\|/gm)]
  return Object.fromEntries(
    rows.flatMap(([, rank, names]) =>
      [...names!.matchAll(/`([^`]+)`/g)].map(([, name]) => [name!, Number(rank)]),
    ),
  )
}

/** A file imports only from a strictly lower rank or its own folder. */
const RANKS = ranksUnder('# Architecture')
/** The same inside `check`, for its rooms and the files beside them. */
const ROOMS = ranksUnder('## The rooms of `check`')

const MAX_FILE_LINES = 500
const MAX_FUNCTION_LINES = 70
const MAX_COLUMNS = 100

function filesBelow(folder: string): string[] {
  if (!existsSync(join(ROOT, folder))) return []
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && /\.(ts|js|mts)$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort()
}

const sources = filesBelow('src')
const tests = filesBelow('test')
const others = [...filesBelow('bench'), ...filesBelow('scripts')]
const text = (file: string) => readFileSync(join(ROOT, file), 'utf8')

const parsed = new Map<string, ts.SourceFile>()
function parse(file: string): ts.SourceFile {
  const known = parsed.get(file)
  if (known) return known
  const made = ts.createSourceFile(file, text(file), ts.ScriptTarget.Latest, true)
  parsed.set(file, made)
  return made
}

function importsOf(file: string): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    const from =
      ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
        ? node.moduleSpecifier
        : undefined
    if (from && ts.isStringLiteral(from)) found.push(from.text)
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments
      if (argument && ts.isStringLiteral(argument)) found.push(argument.text)
    }
    ts.forEachChild(node, visit)
  }
  visit(parse(file))
  return found
}

/** `src/check/weak/x.ts` -> check; `src/index.ts` -> index.ts. */
const folderOf = (file: string) => file.split('/')[1]!
/** `src/check/weak/x.ts` -> weak. */
const roomOf = (file: string) => file.split('/')[2]!
const ofCheck = sources.filter((name) => name.startsWith('src/check/'))

describe('the folders', () => {
  it('have a rank each', () => {
    expect(new Set(Object.keys(RANKS))).toEqual(new Set(sources.map(folderOf)))
    expect(new Set(Object.keys(ROOMS))).toEqual(new Set(ofCheck.map(roomOf)))
  })

  it('import only from below', () => {
    const wrong: string[] = []
    for (const file of sources) {
      for (const specifier of importsOf(file)) {
        if (!specifier.startsWith('.')) continue
        const target = relative(ROOT, resolve(ROOT, dirname(file), specifier))
        const [from, to] = [folderOf(file), folderOf(target)]
        if (from !== to && RANKS[to]! >= RANKS[from]!) wrong.push(`${file} imports ${target}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it('import only from below inside check, too', () => {
    const wrong: string[] = []
    for (const file of ofCheck) {
      for (const specifier of importsOf(file)) {
        const target = relative(ROOT, resolve(ROOT, dirname(file), specifier))
        if (!specifier.startsWith('.') || folderOf(target) !== 'check') continue
        const [from, to] = [roomOf(file), roomOf(target)]
        if (from !== to && ROOMS[to]! >= ROOMS[from]!) wrong.push(`${file} imports ${target}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it('are mirrored by test/', () => {
    // What tests all of src, or nothing of it.
    const notOfOne = /^test(\/(bin|corpus|docs|fuzz|live|small))?$/
    const wrong = [...new Set(tests.map((file) => dirname(file)))].filter(
      (folder) => !notOfOne.test(folder) && !existsSync(join(ROOT, folder.replace(/^test/, 'src'))),
    )
    expect(wrong).toEqual([])
  })

  it('import nothing that imports them, types included', () => {
    const imported = new Map(
      sources.map((file) => [
        file,
        importsOf(file)
          .filter((specifier) => specifier.startsWith('.'))
          .map((specifier) => relative(ROOT, resolve(ROOT, dirname(file), specifier))),
      ]),
    )
    const rings: string[] = []
    const done = new Set<string>()
    const visit = (file: string, path: readonly string[]): void => {
      const at = path.indexOf(file)
      if (at >= 0) rings.push([...path.slice(at), file].join(' -> '))
      if (at >= 0 || done.has(file)) return
      for (const other of imported.get(file) ?? []) visit(other, [...path, file])
      done.add(file)
    }
    for (const file of sources) visit(file, [])
    expect(rings).toEqual([])
  })

  it('keep the second deciders apart from the first', () => {
    for (const file of ofCheck.filter((name) => roomOf(name) === 'published')) {
      for (const specifier of importsOf(file))
        expect(specifier).toMatch(/^(\.|\.\.\/problem|\.\.\/\.\.\/(base|history))\/[^/]+$/)
    }
  })

  it('keep the certificate apart from what it verifies', () => {
    for (const file of sources.filter((name) => name.startsWith('src/verdict/certify'))) {
      for (const specifier of importsOf(file)) expect(specifier).not.toMatch(/check|solver/)
    }
    for (const file of sources.filter((name) => name.startsWith('src/spill/'))) {
      for (const specifier of importsOf(file)) expect(specifier).not.toMatch(/check|pipeline/)
    }
  })

  it('need Node only where files, workers, databases and terminals are', () => {
    const allowed =
      /^src\/(files|cli|record|matchers|pipeline|application|fleet)\/|^src\/formats\/(open|pieces|waiting|save|directory|files|plume\/ahead)\.ts$|^src\/watch\/(checkpoint|follow)\.ts$/
    const wrong = sources.filter(
      (file) => !allowed.test(file) && importsOf(file).some((name) => name.startsWith('node:')),
    )
    expect(wrong).toEqual([])
  })
})

describe('sizes', () => {
  it('keep files short', () => {
    const long = [...sources, ...tests, ...others].filter(
      (file) => text(file).split('\n').length > MAX_FILE_LINES,
    )
    expect(long).toEqual([])
  })

  it('keep functions short', () => {
    const long: string[] = []
    for (const file of sources) {
      const source = parse(file)
      const visit = (node: ts.Node): void => {
        if (ts.isFunctionLike(node) && 'body' in node && node.body) {
          const from = source.getLineAndCharacterOfPosition(node.getStart(source)).line
          const to = source.getLineAndCharacterOfPosition(node.end).line
          if (to - from + 1 > MAX_FUNCTION_LINES) long.push(`${file}:${from + 1}: ${to - from + 1}`)
        }
        ts.forEachChild(node, visit)
      }
      visit(source)
    }
    expect(long).toEqual([])
  })

  it('keep lines short', () => {
    const long: string[] = []
    for (const file of [...sources, ...tests]) {
      text(file)
        .split('\n')
        .forEach((line, i) => {
          // A sentence for the user, or a pattern for one, may run on.
          const isProse = /['`"]|^ *\/.*\/,?$/.test(line)
          if ([...line].length > MAX_COLUMNS && !isProse) long.push(`${file}:${i + 1}`)
        })
    }
    expect(long).toEqual([])
  })

  it('spread no list of any length into a call, which overflows the stack', () => {
    const inner = /^src\/(base|graph|history|verdict|check|formats|solver)\//
    const spreads = /\b(push|unshift|Math\.max|Math\.min)\([^(){}]*\.\.\./
    const wrong = sources.filter(
      (file) => inner.test(file) && spreads.test(text(file).replace(/^ *(\/\/|\/?\*).*$/gm, '')),
    )
    expect(wrong).toEqual([])
  })

  it('keep names plain', () => {
    const bad = sources.filter((file) => /(utils?|helpers?|common|manager|\d)\.ts$/.test(file))
    expect(bad).toEqual([])
  })
})

/** What may not stand in the sources, and where it may all the same. */
const BANNED: [pattern: RegExp, allowed: RegExp][] = [
  [/Math\.random\(/, /^$/],
  [/\bDate\.now\(|new Date\(|performance\.now\(/, /^src\/(base\/deadline\.ts|record\/)/],
  [/process\.exit\(/, /^src\/(cli\/(main|terminal|signals)|record\/embedded\/keeper)\.ts$/],
  [/\bconsole\./, /^$/],
  [/\b(TODO|FIXME|XXX)\b/, /^$/],
  [/^export default/m, /^$/],
  [/^\s*(export )?(const )?enum /m, /^$/],
  [/@ts-ignore|@ts-nocheck|: any[;,)\]>|=]|\bas any\b/, /^$/],
]

describe('the sources', () => {
  it('call nothing that is banned', () => {
    const wrong: string[] = []
    for (const file of sources) {
      for (const [pattern, allowed] of BANNED) {
        if (pattern.test(text(file)) && !allowed.test(file)) wrong.push(`${file}: ${pattern}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it('open with what they are for', () => {
    const bare = sources.filter((file) => !text(file).startsWith('//'))
    expect(bare).toEqual([])
  })

  it('point at a document of this project where they speak of definitions', () => {
    const wrong = [...sources, ...tests, ...others].filter((file) => {
      if (file === 'test/tidy.test.ts') return false
      const cited = [...text(file).matchAll(/\(definitions?: ([^)\s]*)/g)].map((match) => match[1]!)
      return cited.some((page) => !/^docs\//.test(page) || !existsSync(join(ROOT, page)))
    })
    expect(wrong).toEqual([])
  })

  it('name no place of the machine they were written on', () => {
    const wrong = [...sources, ...tests, ...others].filter((file) => {
      if (file === 'test/tidy.test.ts') return false
      return /\/work\/|\/root\/|\/home\/\w/.test(text(file))
    })
    expect(wrong).toEqual([])
  })
})
