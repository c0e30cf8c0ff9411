// What the command line may destroy: nothing. What it may repeat of hostile text: nothing raw.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { isobar, makeFolder, put } from './command.ts'

const BIN = resolve(import.meta.dirname, '../../bin/isobar.js')
const folder = makeFolder()
const TEXT = 's1: w(x,1) | r(x,0)\n'
let history: string

beforeAll(() => {
  history = put(folder, 'h.notation', TEXT)
  linkSync(history, join(folder, 'hard.notation'))
  symlinkSync('h.notation', join(folder, 'soft.notation'))
})

const shell = (line: string) => {
  const env = { ...process.env, ISOBAR: `${process.execPath} ${BIN}` }
  return spawnSync('sh', ['-c', line], { cwd: folder, encoding: 'utf8', env })
}

describe('outputs', () => {
  it.each(['report', 'svg', 'dot', 'junit', 'summary', 'certificate'])(
    '--%s never writes over the input, under no name and by no force',
    (option) => {
      const name = option.length % 2 ? 'hard.notation' : 'soft.notation'
      const { code, err } = isobar(['check', history, `--${option}`, join(folder, name), '--force'])
      expect(code).toBe(2)
      expect(err).toContain('an input of this command')
      expect(readFileSync(history, 'utf8')).toBe(TEXT)
    },
  )

  it('need --force to replace a file, in every command', () => {
    const mine = put(folder, 'mine.html', 'mine')
    const verdict = put(folder, 'v.json', isobar(['check', history, '--json']).out)
    const commands = [
      ['check', history, '--report', mine],
      ['check', history, '--certificate', mine],
      ['report', verdict, mine],
      ['convert', history, mine],
      ['generate', mine, '--transactions', '3'],
      ['shrink', history, mine, '--level', 'ser'],
      ['run', 'sim:ser', '--transactions', '3', '--out', join(folder, 'r'), '--svg', mine],
    ]
    for (const command of commands) {
      const { code, err } = isobar(command)
      expect([code, err], command[0]).toEqual([2, expect.stringContaining('--force replaces it')])
      expect(readFileSync(mine, 'utf8'), command[0]).toBe('mine')
    }
    expect(existsSync(join(folder, 'r'))).toBe(false)
    expect(isobar([...commands[0]!, '--force']).code).toBe(0)
    expect(readFileSync(mine, 'utf8')).toContain('<!doctype html>')
  })

  it('are one place each', () => {
    const page = join(folder, 'page.html')
    const { code, err } = isobar(['check', history, '--report', page, '--svg', page, '--force'])
    expect([code, err]).toEqual([2, expect.stringContaining('what --report writes')])
    expect(isobar(['check', history, '--json', '--report', '-']).code).toBe(2)
    const { out } = isobar(['check', history, '--report', '-'])
    expect(out).toMatch(/^<!doctype html>.*<\/html>\n$/s)
  })

  it('are refused before the work begins where they have no name', () => {
    for (const option of ['--summary', '--report', '--certificate']) {
      const { code, err } = isobar(['check', join(folder, 'absent'), option, ''])
      expect([code, err]).toEqual([2, `isobar: ${option} names no file: it is empty\n`])
    }
    expect(isobar(['run', 'sim:ser', '--out', '']).err).toContain('--out names no directory')
  })

  it('add to the summary of a job', () => {
    const summary = put(folder, 'summary.md', '# Job')
    for (let i = 0; i < 2; i++) isobar(['check', history, '--summary', summary])
    expect(readFileSync(summary, 'utf8')).toMatch(/^# Job\n## Isolation.*\n## Isolation/s)
  })

  it('say so when the disk is full, and end quietly when nobody reads', () => {
    for (const line of [
      '$ISOBAR check h.notation > /dev/full',
      '$ISOBAR check h.notation --json > /dev/full',
      '$ISOBAR convert h.notation - > /dev/full',
      '$ISOBAR check h.notation --certificate /dev/full',
    ]) {
      const { status, stderr } = shell(line)
      expect([status, stderr], line).toEqual([2, expect.stringContaining('the disk is full')])
    }
    const closed = shell('($ISOBAR generate - --transactions 9999; echo $? >&2) | head -c 1')
    expect(closed.stderr).toBe('0\n')
    const early = shell('(sleep 0.3; $ISOBAR check h.notation; echo $? >&2) | true')
    expect(early.stderr).toBe('141\n')
  })

  it('of a run never replace those of another', () => {
    const out = join(folder, 'run')
    const run = ['run', 'sim:ser', '--transactions', '30', '--sessions', '3', '--out', out]
    expect(isobar(run).code).toBe(0)
    const before = readdirSync(out).map((name) => readFileSync(join(out, name), 'utf8'))
    for (const more of [[], ['--force'], ['--seed', '2', '--force']]) {
      const { code, err } = isobar([...run, ...more])
      expect([code, err]).toEqual([2, expect.stringContaining('never replaced')])
    }
    expect(readdirSync(out).map((name) => readFileSync(join(out, name), 'utf8'))).toEqual(before)
  })

  it('are not left half done when a signal ends the program', async () => {
    const out = join(folder, 'signalled')
    mkdirSync(out)
    const args = [BIN, 'generate', join(out, 'h.txt'), '--transactions', '200000']
    const child = spawn(process.execPath, args, { stdio: 'ignore' })
    const ended = once(child, 'exit')
    const isWriting = () => readdirSync(out).some((name) => name.startsWith('.isobar-'))
    while (child.exitCode === null && !isWriting()) await setTimeout(2)
    child.kill('SIGTERM')
    const [, signal] = await ended
    expect(signal).toBe('SIGTERM')
    // What guards the file learns of the end only after it.
    while (isWriting()) await setTimeout(2)
    expect(readdirSync(out).filter((name) => name !== 'h.txt')).toEqual([])
  })

  it('leave no temporary file', () => {
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([])
  })
})

describe('inputs', () => {
  it('that standard output would go into are refused', () => {
    const { status, stderr } = shell('cp h.notation own; $ISOBAR check own >> own')
    expect([status, stderr]).toEqual([2, expect.stringContaining('standard output would go into')])
  })

  it('that cannot be read are errors of their own, and the others are judged', () => {
    const many = join(folder, 'many')
    mkdirSync(join(many, 'closed'), { recursive: true })
    put(many, 'a.notation', TEXT)
    symlinkSync('loop', join(many, 'loop'))
    chmodSync(join(many, 'closed'), 0)
    const { code, out, err } = isobar(['check', many])
    chmodSync(join(many, 'closed'), 0o755)
    expect(code).toBe(2)
    expect(out).toContain('1 history checked')
    expect(err).toContain('loop')
    // A superuser may read everything.
    if (process.getuid?.() !== 0) expect(err).toContain('closed')
  })
})

const HOSTILE = 'e\u001b[2J\u009b31m\u202e\r\nisobar: satisfied\u2028'
const RAW = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

describe('hostile text', () => {
  it('reaches the terminal in no message about arguments or files', () => {
    const bad = put(folder, `${HOSTILE}.notation`, 's1: w(x\u001b,\u202e')
    for (const args of [
      [HOSTILE],
      ['check', HOSTILE],
      ['check', bad],
      ['check', history, `--${HOSTILE}`],
      ['check', history, '--level', HOSTILE],
      ['check', history, '--format', HOSTILE],
      ['check', history, '--tap', HOSTILE],
      ['check', history, '--budget', HOSTILE],
      ['check', history, '--svg', join(folder, HOSTILE, 'x')],
      ['convert', bad, join(folder, 'no', HOSTILE)],
      ['generate', join(folder, 'g'), '--shape', HOSTILE],
      ['generate', join(folder, 'g'), '--inject', HOSTILE],
      ['run', HOSTILE],
      ['run', 'sim:ser', '--workload', HOSTILE],
      ['report', bad],
      ['verify', history, bad],
    ]) {
      const { code, out, err } = isobar(args)
      expect([code, out], args.join(' ')).toEqual([2, ''])
      for (const line of err.trimEnd().split('\n')) {
        expect(line).not.toMatch(RAW)
        expect(line).toMatch(/^(isobar|hint): |^\(Did you mean/)
        expect(line.length).toBeLessThan(1200)
      }
    }
  })

  it('is cut where it is long', () => {
    const where = JSON.stringify(`id = ${'('.repeat(2e6)}`)
    const header = '{"isobar":1,"tables":{"t":{"columns":{"id":"integer"},"key":["id"]}}}'
    const line = `{"id":1,"session":1,"ops":[{"select":"t","where":${where},"rows":[]}]}`
    const path = put(folder, 'long.jsonl', `${header}\n${line}\n`)
    const { code, err } = isobar(['check', path])
    expect(code).toBe(2)
    expect(err.length).toBeLessThan(1500)
  })

  it('may be a key of a megabyte', () => {
    const key = JSON.stringify('k'.repeat(1 << 20))
    const line = (id: number, ops: string) => `{"id":${id},"session":${id},"ops":[${ops}]}`
    const write = line(1, `["r",${key},null],["w",${key},1]`)
    const other = line(2, `["r",${key},null],["w",${key},2]`)
    const path = put(folder, 'large.jsonl', `{"isobar":1}\n${write}\n${other}\n`)
    const verdict = put(
      folder,
      'large.json',
      isobar(['check', path, '--level', 'si', '--json']).out,
    )
    expect(isobar(['report', verdict, join(folder, 'large.html')]).code).toBe(0)
    const { code, out } = isobar(['check', path, '--level', 'si'])
    expect([code, out.length < 20_000]).toEqual([1, true])
  })
})

describe('secrets', () => {
  it.each([
    ['run', 'postgres:/user:SECRET@host/db'],
    ['run', 'postgres:user:SECRET@host/db'],
    ['run', 'postgres//user:SECRET@host/db'],
    ['run', 'host=localhost user=me password=SECRET'],
    ['run', 'postgres://user:12/SECRET@host/db'],
    ['run', 'postgres://user:12#SECRET@host/db'],
    ['run', 'postgres://user:12?SECRET@host/db'],
    ['run', 'postgres://user:SECRET@host:99999/db'],
    ['postgres://user:SECRET@host/db'],
    ['check', 'postgres://user:SECRET@host/db'],
    ['run', 'sim:ser', '--level', 'postgres://user:SECRET@host/db'],
    ['run', '--password=SECRET'],
  ])('are not repeated: %s %s', (...args) => {
    const { code, out, err } = isobar(args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/^isobar: /)
    expect(err).not.toContain('SECRET')
  })
})
