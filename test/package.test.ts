// Packs the package, installs it into an empty directory, and uses it as a stranger would: the
// command and the library, with its types. Offline: dependencies come from this checkout.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'isobar-package-'))
const run = (command: string, args: string[], cwd = folder) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

const EXAMPLE = `import { check, parseHistory, renderText } from 'isobar'

const history = parseHistory(\`
  s1: r(x,0) w(x,1)
  s2: r(x,1) w(y,1)
  s3: r(y,1) r(x,0)
\`)
const result = check(history, 'cc')
console.log(result.verdict, result.anomalies.map((anomaly) => anomaly.name))
console.log(renderText(history, [result]))
`

beforeAll(() => {
  const packed = run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], ROOT)
  const tarball = packed.trim().split('\n').at(-1)!
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const local = Object.keys(dependencies).map((name) => join(ROOT, 'node_modules', name))
  writeFileSync(join(folder, 'package.json'), '{"name":"stranger","type":"module","private":true}')
  const flags = ['--offline', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund']
  run('npm', ['install', ...flags, `./${tarball}`, ...local])
})

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
    expect(out).toContain("violated [ 'COConflictCM' ]")
    expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain(EXAMPLE.trim())
  })

  it('brings types', () => {
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
    const options = {
      noEmit: true,
      strict: true,
      module: 'nodenext',
      lib: ['es2022', 'dom'],
      types: [],
    }
    const compile = (text: string) => {
      writeFileSync(join(folder, 'typed.ts'), text)
      const config = { compilerOptions: options, files: ['typed.ts'] }
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
      return run(process.execPath, [tsc, '-p', '.'])
    }
    expect(compile(EXAMPLE)).toBe('')
    const wrong = `import { check } from 'isobar'\ncheck('not a history', 'cc')\n`
    expect(() => compile(wrong)).toThrow()
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
log(library.profile(history).map((result) => result.level + ' ' + result.verdict).join(', '))
`,
    )
    expect(run(process.execPath, ['page.js'])).toContain('rc satisfied, ra violated')
  })
})
