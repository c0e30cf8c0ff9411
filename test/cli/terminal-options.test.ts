// The options that every command has: --quiet and --color; help by topics; one pair of words for
// formats.

import { Command } from 'commander'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { addCheckCommand } from '../../src/cli/check-command.ts'
import { addConvertCommand } from '../../src/cli/convert-command.ts'
import { addGenerateCommand } from '../../src/cli/generate-command.ts'
import { addShrinkCommand } from '../../src/cli/shrink-command.ts'
import { addStatsCommand } from '../../src/cli/stats-command.ts'
import { coloursFor, configureTerminal } from '../../src/cli/terminal.ts'
import { addVerifyCommand } from '../../src/cli/verify-command.ts'
import { isobar, makeFolder, put } from './command.ts'

const folder = makeFolder()
const LOST = 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)\n'
const lost = put(folder, 'lost.txt', LOST)

afterEach(() => {
  vi.unstubAllEnvs()
  configureTerminal()
})

describe('--quiet', () => {
  it('leaves the exit code and the files, in every place', () => {
    const report = `${folder}/quiet.html`
    const after = isobar(['check', lost, '--level', 'si', '-q', '--report', report])
    expect(after).toEqual({ code: 1, out: '', err: '' })
    expect(isobar(['--quiet', 'check', lost, '--level', 'cc'])).toEqual({
      code: 0,
      out: '',
      err: '',
    })
    expect(isobar(['report', '-q', put(folder, 'no.json', '{}'), 'x.html']).err).toContain(
      'isobar: ',
    )
    expect(isobar(['convert', '-q', lost, `${folder}/lost.jsonl`]).out).toBe('')
    expect(isobar(['convert', lost, `${folder}/loud.jsonl`]).out).toContain('loud.jsonl')
  })

  it('does not silence what was asked for, nor errors', () => {
    expect(isobar(['check', lost, '-q', '--json']).out).toContain('"verdict"')
    expect(isobar(['check', lost, '-q', '--level', 'si', '--notation']).out).toContain('s1: r(x,0)')
    expect(isobar(['explain', '-q', 'write-skew']).out).toContain('write')
    expect(isobar(['check', `${folder}/none.txt`, '-q']).err).toContain('none.txt')
  })
})

describe('--color', () => {
  const red = (stream: { isTTY?: boolean }) => coloursFor(stream).bad('x') !== 'x'
  const [terminal, file] = [{ isTTY: true }, { isTTY: false }]

  it.each([
    [{}, true, false],
    [{ NO_COLOR: '1' }, false, false],
    [{ FORCE_COLOR: '1' }, true, true],
    [{ FORCE_COLOR: '0' }, false, false],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, false, false],
    [{ TERM: 'dumb' }, false, false],
    [{ TERM: 'dumb', FORCE_COLOR: '1' }, true, true],
  ])('is told by the environment %j unless given', (environment, onTerminal, elsewhere) => {
    for (const name of ['NO_COLOR', 'FORCE_COLOR', 'TERM']) vi.stubEnv(name, '')
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    expect([red(terminal), red(file)]).toEqual([onTerminal, elsewhere])
    configureTerminal({ colour: 'always' })
    expect([red(terminal), red(file)]).toEqual([true, true])
    configureTerminal({ colour: 'never' })
    expect([red(terminal), red(file)]).toEqual([false, false])
  })

  it('is an option of every command', () => {
    const env = { NO_COLOR: '1', FORCE_COLOR: '' }
    const colourful = isobar(['check', lost, '--color', 'always'], undefined, { env })
    expect(colourful.out).toContain('\u001b[31mviolated')
    expect(isobar(['--color', 'never', 'check', lost]).out).not.toContain('\u001b')
    const wrong = isobar(['check', lost, '--color', 'alway'])
    expect(wrong.code).toBe(2)
    expect(wrong.err).toContain('--color is auto or always or never, not "alway"')
    expect(wrong.err).toContain('hint: did you mean always?')
  })
})

describe('help', () => {
  it('is by topics', () => {
    const { out } = isobar(['--help'])
    const topics = [
      'Begin here:',
      'Judge histories:',
      'Test a database',
      'Look at histories',
      'This program:',
    ]
    const places = topics.map((topic) => out.indexOf(`\n${topic}`))
    expect(places.every((place) => place > 0)).toBe(true)
    expect([...places].sort((a, b) => a - b)).toEqual(places)
    expect(out).toMatch(/Begin here:\n {2}demo /)
    expect(isobar(['check', '--help']).out).toMatch(/\nWhat is judged:\n[\s\S]*\nGlobal Options:\n/)
  })
})

describe('formats', () => {
  it.each([
    ['check', addCheckCommand, true, false],
    ['stats', addStatsCommand, true, false],
    ['verify', addVerifyCommand, true, false],
    ['convert', addConvertCommand, true, true],
    ['shrink', addShrinkCommand, true, true],
    ['generate', addGenerateCommand, false, true],
  ])('are named by the same options in %s', (_name, add, reads, writes) => {
    const program = new Command()
    add(program, () => {})
    const options = program.commands[0]!.options
    const input = options.find(({ long }) => long === '--format')
    const output = options.find(({ long }) => long === '--to')
    expect(options.some(({ long }) => long === '--from')).toBe(false)
    expect([input?.short, input?.description.startsWith('format of the input')]).toEqual(
      reads ? ['-f', true] : [undefined, undefined],
    )
    expect(output?.description.startsWith('format of the output')).toBe(writes ? true : undefined)
  })
})
