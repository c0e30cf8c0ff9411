import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Outputs } from '../../src/files/output.ts'
import { makeTemporaryFile, removeTemporaries } from '../../src/files/temporary.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'isobar-files-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const at = (name: string) => join(folder, name)
const put = (name: string, text = 'mine') => {
  writeFileSync(at(name), text)
  return at(name)
}
const read = (name: string) => readFileSync(at(name), 'utf8')

describe('Outputs.claim', () => {
  it('refuses an input under every name that it has, even by force', () => {
    const input = put('h.txt')
    linkSync(input, at('hard'))
    symlinkSync('h.txt', at('soft'))
    symlinkSync('soft', at('softer'))
    mkdirSync(at('d'))
    symlinkSync('..', at('d/up'))
    const names = [input, at('hard'), at('soft'), at('softer'), at('d/up/h.txt'), at('d/../h.txt')]
    for (const name of [...names, relative(process.cwd(), input)]) {
      const outputs = new Outputs(true)
      outputs.read(input)
      expect(() => outputs.claim(name, '--svg'), name).toThrow('an input of this command')
    }
    expect(read('h.txt')).toBe('mine')
  })

  it('refuses the same place twice, also one that does not exist yet', () => {
    symlinkSync('new.html', at('leads'))
    for (const name of ['new.html', './new.html', 'NEW.html', 'leads']) {
      const outputs = new Outputs(true)
      outputs.claim(at('new.html'), '--report')
      expect(() => outputs.claim(`${folder}/${name}`, '--svg'), name).toThrow(
        'what --report writes',
      )
    }
    const outputs = new Outputs()
    outputs.claim(at('new.html'), '--report')
    outputs.claim(at('other.html'), '--svg')
    outputs.claim('-', '--dot')
    expect(() => outputs.claim('-', '--junit')).toThrow('standard output is what --dot writes')
  })

  it('replaces a file that holds something by force only, an empty one always', () => {
    put('full')
    put('empty', '')
    expect(() => new Outputs().claim(at('full'), '--svg')).toThrow('exists already')
    new Outputs().claim(at('empty'), '--svg').writeText('new')
    new Outputs(true).claim(at('full'), '--svg').writeText('new')
    expect([read('full'), read('empty')]).toEqual(['new', 'new'])
    const keep = { keep: true }
    expect(() => new Outputs(true).claim(at('full'), '--out', keep)).toThrow('never replaced')
  })

  it('refuses what is no name of a file', () => {
    for (const [name, why] of [
      ['', 'it is empty'],
      [' ', 'it is empty'],
      ['a\0b', 'zero byte'],
      [folder, 'is a directory'],
      [at('no/x'), 'there is no such directory'],
      [join(put('file'), 'x'), 'there is no such directory'],
      [at('x'.repeat(5000)), 'the name is too long'],
    ]) {
      expect(() => new Outputs().claim(name!, '--svg')).toThrow(why)
    }
  })

  it('writes through devices, as often as they are named', () => {
    const outputs = new Outputs()
    for (const what of ['--svg', '--dot']) {
      expect(outputs.claim('/dev/null', what).writeText('gone')).toBe(4)
    }
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true)
  })
})

describe('Output', () => {
  it('leaves alone what somebody else wrote meanwhile', () => {
    const output = new Outputs().claim(at('h'), '--svg')
    put('h', 'theirs')
    expect(() => output.writeText('ours')).toThrow('somebody else wrote it meanwhile')
    expect(read('h')).toBe('theirs')
    expect(readdirSync(folder)).toEqual(['h'])
  })

  it('keeps what was there, and nothing else, when filling fails', () => {
    const output = new Outputs(true).claim(put('h'), '--svg')
    const fail = () =>
      output.write((sink) => {
        sink(new Uint8Array(1 << 20))
        throw new Error('half way')
      })
    expect(fail).toThrow('half way')
    expect(read('h')).toBe('mine')
    expect(readdirSync(folder)).toEqual(['h'])
  })

  it('follows the links of the user, and keeps the permissions of what it replaces', () => {
    mkdirSync(at('d'))
    writeFileSync(at('d/h'), 'mine', { mode: 0o640 })
    symlinkSync('d/h', at('link'))
    new Outputs(true).claim(at('link'), '--svg').writeText('new')
    expect(read('d/h')).toBe('new')
    expect(statSync(at('d/h')).mode & 0o777).toBe(0o640)
    symlinkSync('d/later', at('dangling'))
    new Outputs().claim(at('dangling'), '--svg').writeText('new')
    expect(read('d/later')).toBe('new')
  })

  it('appends on a line of its own', () => {
    const options = { append: true }
    new Outputs().claim(at('s.md'), '--summary', options).writeText('one\n')
    new Outputs().claim(at('s.md'), '--summary', options).writeText('two')
    new Outputs().claim(at('s.md'), '--summary', options).writeText('three\n')
    expect(read('s.md')).toBe('one\ntwo\nthree\n')
  })

  it('says in a sentence that the disk is full', () => {
    if (!existsSync('/dev/full')) return
    for (const append of [true, false]) {
      const output = new Outputs().claim('/dev/full', '--svg', { append })
      expect(() => output.writeText('x')).toThrow('the disk is full')
    }
  })

  it('replaces a directory as a whole, and only one of its own kind', () => {
    const endings = /\.log$/
    const write = (name: string, text: string, force: boolean) => {
      const output = new Outputs(force).claimDirectory(at('d'), 'the output', endings)
      const bytes = new TextEncoder().encode(text)
      return output.writeFiles((open) => open(name)(bytes))
    }
    expect(write('a.log', 'one', false)).toBe(3)
    expect(() => write('b.log', 'two', false)).toThrow('exists already')
    write('b.log', 'two', true)
    expect(readdirSync(folder)).toEqual(['d'])
    expect(readdirSync(at('d'))).toEqual(['b.log'])
    put('d/notes.txt')
    expect(() => write('c.log', 'three', true)).toThrow('it also holds notes.txt')
    rmSync(at('d/notes.txt'))
    const outputs = new Outputs(true)
    outputs.read(at('d/b.log'))
    expect(() => outputs.claimDirectory(at('d'), 'the output', endings)).toThrow('an input')
  })
})

describe('removeTemporaries', () => {
  it('removes what is on its way, and nothing that has arrived', () => {
    new Outputs().claim(at('h'), '--svg').writeText('done')
    const { path } = makeTemporaryFile(folder)
    expect(existsSync(path)).toBe(true)
    removeTemporaries()
    expect(readdirSync(folder)).toEqual(['h'])
  })
})
