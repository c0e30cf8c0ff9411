// What was compiled is kept, used, and never believed where it is not what it was.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isobar, makeFolder, put } from '../cli/command.ts'

const LOADER = new URL('../../bin/code-cache.js', import.meta.url).href
const HASH_BYTES = 20
const HEAD_BYTES = 24

/** A program of two scripts, and runs of it. */
class Program {
  readonly folder = makeFolder()
  private readonly cache: string
  private readonly main = join(this.folder, 'main.cjs')

  constructor(cache = 'dist/cache') {
    mkdirSync(join(this.folder, 'dist'))
    this.cache = join(this.folder, cache)
    this.tell('one')
    put(this.folder, 'other.cjs', 'exports.two = 2')
    const [loader, main, kept] = [LOADER, this.main, this.cache].map((word) => JSON.stringify(word))
    const program = `import { load } from ${loader}\nprocess.stdout.write(load(${main}, ${kept}).answer(process.argv[2]))\n`
    put(this.folder, 'run.mjs', program)
  }

  /** Changes what it answers; the script is as long for words of one length. */
  tell(word: string): void {
    const functions = Array.from(
      { length: 3000 },
      (_, i) => `(x) => { const y = x * ${i}; return y }`,
    )
    const text = `require('./other.cjs')
const many = [${functions}]
exports.answer = (all) => '${word}' + (all ? many.map((f) => f(1)).length : '')`
    writeFileSync(this.main, text)
  }

  run(args: readonly string[] = [], env: Record<string, string> = {}): string {
    const child = spawnSync(process.execPath, [join(this.folder, 'run.mjs'), ...args], {
      encoding: 'utf8',
      env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '', ...env },
    })
    return child.stderr + child.stdout
  }

  get isKept(): boolean {
    return existsSync(this.cache)
  }

  /** The files that are kept, each with a mark that changes when it is written anew. */
  kept(): Map<string, number> {
    const home = join(this.cache, readdirSync(this.cache)[0]!)
    const files = readdirSync(home).map((name) => join(home, name))
    return new Map(files.sort().map((file) => [file, statSync(file).ino]))
  }

  /** Changes the file kept of the first script. */
  damage(change: (bytes: Buffer) => Uint8Array): string {
    const file = [...this.kept().keys()].find((name) => name.endsWith('main.cjs'))!
    writeFileSync(file, change(readFileSync(file)))
    return file
  }
}

function sign(source: Uint8Array, bytes: Buffer): Buffer {
  const made = bytes.subarray(HASH_BYTES)
  return Buffer.concat([createHash('sha1').update(source).update(made).digest(), made])
}

describe('load', () => {
  it('keeps what was compiled, and uses it', () => {
    const program = new Program()
    expect(program.run()).toBe('one')
    const first = program.kept()
    expect(first.size).toBe(2)
    expect(program.run()).toBe('one')
    expect(program.kept()).toEqual(first)
  })

  it('keeps more when more was compiled', () => {
    const program = new Program()
    expect(program.run()).toBe('one')
    const size = () => readFileSync([...program.kept().keys()][0]!).length
    const before = size()
    expect(program.run(['all'])).toBe('one3000')
    const grown = program.kept()
    expect(size()).toBeGreaterThan(2 * before)
    expect(program.run(['all'])).toBe('one3000')
    expect(program.run()).toBe('one')
    expect(program.kept()).toEqual(grown)
  })

  it.each<[string, (bytes: Buffer) => Uint8Array]>([
    ['empty', () => new Uint8Array()],
    ['cut short', (bytes) => bytes.subarray(0, bytes.length >> 1)],
    ['changed in its head', (bytes) => bytes.fill(1, HASH_BYTES, HEAD_BYTES)],
    ['changed within', (bytes) => bytes.fill(0xff, bytes.length >> 1, (bytes.length >> 1) + 64)],
  ])('does without a file that is %s, and writes it anew', (_, change) => {
    const program = new Program()
    program.run()
    const file = program.damage(change)
    const bad = readFileSync(file)
    expect(program.run()).toBe('one')
    expect(readFileSync(file).equals(bad)).toBe(false)
    const mended = program.kept()
    expect(program.run()).toBe('one')
    expect(program.kept()).toEqual(mended)
  })

  it('does without what another compiler made', () => {
    const program = new Program()
    program.run()
    const source = readFileSync(join(program.folder, 'main.cjs'))
    // The compiler's own head follows ours: a magic number, its version, the length of the source.
    const file = program.damage((bytes) => sign(source, bytes.fill(7, HEAD_BYTES, HEAD_BYTES + 8)))
    const bad = readFileSync(file)
    expect(program.run()).toBe('one')
    expect(readFileSync(file).equals(bad)).toBe(false)
  })

  it('runs a script as it is now, not one of the same length as it was', () => {
    const program = new Program()
    expect(program.run()).toBe('one')
    program.tell('two')
    expect(program.run()).toBe('two')
    expect(program.run()).toBe('two')
  })

  it('runs where nothing can be written', () => {
    const program = new Program('run.mjs/cache') // below a file
    expect([program.run(), program.run()]).toEqual(['one', 'one'])
    expect(program.isKept).toBe(false)
  })

  it('keeps nothing where Node is told not to', () => {
    const program = new Program()
    expect(program.run([], { NODE_DISABLE_COMPILE_CACHE: '1' })).toBe('one')
    expect(program.isKept).toBe(false)
  })
})

describe('the command line', () => {
  it.each([
    ['check', 'h.txt', '--level', 'ra'],
    ['check', 'h.txt', '--notation'],
    ['convert', 'h.txt', '-', '--to', 'plume'],
    ['check', 'nothing.txt'],
    ['--help'],
  ])('says the same with what was compiled before and without: %s %s %s', (...args) => {
    const cwd = makeFolder()
    put(cwd, 'h.txt', 's1: w(x,1) w(y,1) | w(x,2) w(y,2)\ns2: r(x,1) r(y,2)\n')
    const run = (off: string) =>
      isobar(args, undefined, { cwd, env: { NODE_DISABLE_COMPILE_CACHE: off } })
    const without = run('1')
    expect([run(''), run('')]).toEqual([without, without])
    expect(without.err).not.toContain('internal')
  })
})
