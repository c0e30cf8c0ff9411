// Completion, asked of the shells themselves where they are installed; bash always is.

import { spawnSync } from 'node:child_process'
import { Command } from 'commander'
import { beforeAll, describe, expect, it } from 'vitest'
import { ARGUMENT_VALUES, OPTION_VALUES, wordsOf } from '../../src/cli/completion-words.ts'
import { buildProgram } from '../../src/cli/main.ts'
import { isobar, makeFolder, put } from './command.ts'

const folder = makeFolder()
const hasShell = (name: string) => spawnSync(name, ['-c', 'true']).status === 0
const scripts: Record<string, string> = {}

beforeAll(() => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, out } = isobar(['completion', shell])
    expect(code).toBe(0)
    scripts[shell] = put(folder, `isobar.${shell}`, out)
  }
})

function ask(shell: string, script: string, words: readonly string[] = []): string[] {
  const { stdout, stderr } = spawnSync(shell, ['-c', script, shell, ...words], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  return stdout.split('\n').filter((line) => line !== '')
}

/** What bash offers for the last of the words. */
function inBash(...words: string[]): string[] {
  const script = `source ${scripts['bash']}
COMP_WORDS=(isobar "$@"); COMP_CWORD=$#; _isobar; printf '%s\\n' "\${COMPREPLY[@]}"`
  return ask('bash', script, words)
}

/** The same in zsh, with what its completion system does put down as words. */
function inZsh(...words: string[]): string[] {
  const script = `compdef() { :; }; compset() { :; }; _message() { :; }
compadd() { shift; print -l -- "$@"; }; _files() { print -- FILES; }
_describe() { print -l -- "\${entries[@]%%:*}"; }
source ${scripts['zsh']}
words=(isobar "$@"); CURRENT=$(($# + 1)); _isobar`
  return ask('zsh', script, words)
}

const inFish = (line: string) =>
  ask('fish', `source ${scripts['fish']}; complete -C "isobar ${line}"`).map(
    (each) => each.split('\t')[0]!,
  )

describe('isobar completion bash', () => {
  it('knows the commands and the options that all have', () => {
    expect(inBash('ch')).toEqual(['check'])
    expect(inBash('')).toEqual(expect.arrayContaining(['demo', 'run', 'help', '--quiet', '-V']))
    expect(inBash('-q', 'conv')).toEqual(['convert'])
  })

  it('knows the options of each command', () => {
    expect(inBash('check', '--le')).toEqual(['--level'])
    expect(inBash('generate', '--inj')).toEqual(['--inject'])
    expect(inBash('check', '--inj')).toEqual([])
    expect(inBash('stats', '--col')).toEqual(['--color'])
  })

  it('knows the words that options and arguments take', () => {
    expect(inBash('check', '-l', 's')).toEqual(expect.arrayContaining(['si', 'ser', 'sser']))
    expect(inBash('check', '--level', 'rc,s')).toEqual(expect.arrayContaining(['rc,si', 'rc,ser']))
    expect(inBash('convert', 'a', 'b', '--to', 'jep')).toEqual(['jepsen', 'jepsen-json'])
    expect(inBash('explain', 'write-')).toEqual(expect.arrayContaining(['write-skew']))
    expect(inBash('help', 'dem')).toEqual(['demo'])
    expect(inBash('completion', '')).toEqual(expect.arrayContaining(['bash', 'fish', 'zsh']))
  })

  it('offers files for options that take one, and leaves other arguments to the shell', () => {
    expect(inBash('check', 'h.txt', '--report', 'isobar.b')).toEqual(['isobar.bash'])
    expect(inBash('check', 'isobar.b')).toEqual([])
    const rule = ask('bash', `source ${scripts['bash']}; complete -p isobar`)
    expect(rule).toEqual(['complete -o bashdefault -o default -F _isobar isobar'])
  })
})

describe.skipIf(!hasShell('zsh'))('isobar completion zsh', () => {
  it('knows commands, options and values', () => {
    expect(inZsh('')).toEqual(expect.arrayContaining(['check', 'demo', '--quiet']))
    expect(inZsh('check', '--')).toEqual(expect.arrayContaining(['--level', '--color']))
    expect(inZsh('check', '--format', '')).toEqual(expect.arrayContaining(['plume', 'native']))
    expect(inZsh('check', '--report', '')).toEqual(['FILES'])
    expect(inZsh('check', '')).toContain('FILES')
  })
})

describe.skipIf(!hasShell('fish'))('isobar completion fish', () => {
  it('knows commands, options and values', () => {
    expect(inFish('che')).toEqual(['check'])
    expect(inFish('check --lev')).toEqual(['--level'])
    expect(inFish('check --level rc,ser')).toContain('rc,serializable')
    expect(inFish('run --shape tw')).toEqual(['twitter', 'twitter-kv'])
  })
})

describe('isobar completion', () => {
  it('refuses shells that it does not know', () => {
    const { code, err } = isobar(['completion', 'fisch'])
    expect(code).toBe(2)
    expect(err).toContain('did you mean fish?')
  })

  it('has no words for options and commands that there are not', async () => {
    const program = await buildProgram([], () => {})
    expect(program).toBeInstanceOf(Command)
    const { options, commands } = wordsOf(program)
    const all = [...options, ...commands.flatMap((command) => command.options)]
    for (const key of Object.keys(OPTION_VALUES)) {
      const [command, long] = key.includes(' ') ? key.split(' ') : [null, key]
      const known = command ? commands.find(({ name }) => name === command)!.options : all
      expect(known.find((option) => option.long === long)?.takes, key).toMatch(/word|list/)
    }
    for (const name of Object.keys(ARGUMENT_VALUES)) {
      expect(commands.map((command) => command.name)).toContain(name)
    }
    expect(all.find(({ long }) => long === '--report')?.takes).toBe('file')
  })
})
