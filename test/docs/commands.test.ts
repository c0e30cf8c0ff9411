// Every command line that the documentation shows is run, as it stands, by a shell, in a folder
// with the files that the pages speak of. What cannot be run here, or takes long, is named in
// ELSEWHERE, with what is tried instead: so no command goes unnoticed.

import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { makeFolder } from '../cli/command.ts'
import { LONG } from '../long.ts'
import { BLOCKS, blocksOf, ROOT } from './blocks.ts'

interface Command {
  readonly page: string
  readonly place: string
  readonly line: string
}

/** Lines of the blocks, and steps of workflows, without their comments. */
const all: Command[] = [
  ...blocksOf('commands').flatMap(({ file: page, place, text }) => {
    const lines = text.trimEnd().split('\n')
    const typed = lines.some((line) => line.startsWith('$ '))
      ? lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2))
      : lines
    return typed.map((line) => ({ page, place, line }))
  }),
  ...blocksOf('yaml').flatMap(({ file: page, place, text }) =>
    [...text.matchAll(/- run: (.*)/g)].map((match) => ({ page, place, line: match[1]! })),
  ),
].map((command) => ({ ...command, line: command.line.replace(/\s+# .*$/, '') }))
/** Each once, on the page that has it first. */
const commands = [
  ...new Map(all.toReversed().map((command) => [command.line, command])).values(),
].toReversed()

/** Satisfied, violated, unknown: anything else is wrong usage, or worse. */
const VERDICTS = [0, 1, 3]
const USAGE = [2]
const NO_DATABASE = [4]

/** Nobody listens there, and a command says so, once it has understood the rest. */
const NOBODY = '127.0.0.1:1'

interface Rule {
  readonly when: RegExp
  readonly why: string
  /** What is run instead; null if nothing is. */
  readonly instead: ((line: string) => string) | null
  readonly codes?: readonly number[]
  readonly says?: RegExp
  /** Ended by a signal when it says what it says. */
  readonly ended?: true
  /** Only where there is no time to run the command as it stands. */
  readonly short?: true
}

/** The first rule that fits counts. */
const ELSEWHERE: readonly Rule[] = [
  { when: /^npm (install|ci)\b/, why: 'asks a registry', instead: null },
  { when: /embedded:14$/, why: 'what the line before it installs', instead: null },
  { when: /^psql /, why: 'test/application/proxy/command.test.ts runs it', instead: null },
  {
    when: /^cat site\/summary\.md/,
    why: 'the report of a fleet that works elsewhere; there is one of the fleet above it',
    instead: null,
    short: true,
  },
  {
    when: /^(npx )?isobar fleet .*--queue/,
    why: 'a queue of somebody else, for which it waits: test/fleet has one of its own',
    instead: (line) => line.replace(/(?<=--queue )\S+/, 'ftp://me@db.example/fleet'),
    codes: USAGE,
    says: /a queue is in PostgreSQL or in Redis|site exists already/,
  },
  {
    when: /db\.example|@host\/|@one,two,three\/|\/\/host:/,
    why: 'a server of somebody else',
    instead: (line) =>
      line
        .replace(/db\.example(:5432)?|(?<=@)host(?=\/)|host:\d+/, NOBODY)
        .replace('one,two,three', `${NOBODY},127.0.0.1:2,127.0.0.1:3`),
    codes: NO_DATABASE,
  },
  {
    when: /^isobar watch (?!-)/,
    why: 'follows a file until it is told to end',
    instead: (line) => `${line.replace('--metrics 9420', '--metrics 0')} --until end`,
  },
  {
    when: /^isobar serve /,
    why: 'goes on until it is ended',
    instead: (line) => `exec ${line.replace('site/', 'runs/')} --port 0`,
    says: /http:\/\/127\.0\.0\.1:\d+/,
    ended: true,
    codes: [143],
  },
  { when: /\/big\/disk/, why: 'no such disk', instead: (line) => line.replace('/big', '.') },
  {
    when: /^isobar (fleet (run|report)|demo|conformance(?! mysql))|--(preset|server-|replicas)/,
    why: 'a server, or several, that it starts',
    instead: null,
    short: true,
  },
  {
    when: /^isobar run(?= --|$)/,
    why: 'a server that it starts; another one is asked for, with the same options',
    instead: (line) => line.replace(/^isobar run/, `$& postgres://me@${NOBODY}/test`),
    codes: NO_DATABASE,
    short: true,
  },
  {
    when: /^isobar run .*--transactions 2000/,
    why: 'long',
    instead: (line) => line.replace('2000', '100'),
    short: true,
  },
  { when: /^isobar run/, why: 'long', instead: (line) => `${line} --transactions 50`, short: true },
]
const ruleOf = (line: string): Rule | undefined =>
  ELSEWHERE.find(({ when, short }) => when.test(line) && !(short && LONG))

const NOTATION = 's1: r(x,0) w(x,1) | r(y,0)\ns2: r(x,0) w(x,2) | w(y,3)\n'
const NATIVE =
  '{"isobar":1}\n{"session":0,"ops":[["w","x",1]]}\n{"session":1,"ops":[["r","x",1]]}\n'
const JEPSEN = [
  { type: 'ok', process: 0, f: 'txn', value: [['append', 1, 1]], index: 0 },
  { type: 'ok', process: 1, f: 'txn', value: [['r', 1, [1]]], index: 1 },
].map((op) => JSON.stringify(op))
const EDN = JEPSEN.map((line) => line.replace(/"(\w+)":/g, ':$1 ').replace(/"(\w+)"/g, ':$1'))

const REGISTER = [
  '{:type :invoke :f :write :value 1 :process 0 :index 0}',
  '{:type :ok :f :write :value 1 :process 0 :index 1}',
  '{:type :invoke :f :read :value nil :process 1 :index 2}',
  '{:type :ok :f :read :value 1 :process 1 :index 3}',
].join('\n')

const COUNTER = '{:type :ok :f :add :value 1 :process 0} {:type :ok :f :read :value 1 :process 1}'
const BANK = '{:type :ok :f :read :value {0 60, 1 40} :process 0}'

/** What the pages speak of. */
const FILES: Record<string, string> = {
  'h.txt': NOTATION,
  'runs/h.txt': NOTATION,
  'histories/h.txt': NOTATION,
  'history.jsonl': NATIVE,
  'history.json': JEPSEN.join('\n'),
  'history.edn': EDN.join('\n'),
  'store/latest/history.edn': EDN.join('\n'),
  'register.edn': REGISTER,
  'counter.edn': COUNTER,
  'bank.edn': BANK,
  'disk/.keep': '',
  'plan.yaml': BLOCKS.find(({ text }) => text.startsWith('# plan.yaml'))!.text,
  'sql.jsonl': readFileSync(`${ROOT}/examples/rooms.jsonl`, 'utf8'),
}
/** What one page speaks of, and another one makes. */
const FILES_OF: Record<string, Record<string, string>> = {
  'docs/beyond-memory.md': { FILE: NATIVE },
  'docs/record-your-app.md': { 'h.jsonl': NATIVE },
}
const PROGRAMS: Record<string, string> = {
  isobar: `exec "${process.execPath}" "${ROOT}/bin/isobar.js" "$@"`,
  npx: 'exec "$@"',
  recorder: 'cat history.jsonl',
}

/** Commands whose output a page shows, all of it, below them. */
const TOLD: Record<string, string> = {
  'isobar fleet run plan.yaml': blocksOf('told').find(({ file }) => file === 'docs/fleet.md')!.text,
}
/** An example of a finding is whichever came first: any of its kind will do. */
const anyExample = (told: string) =>
  told.replaceAll(/^ {4}.*$/gm, (line) => line.replaceAll(/\d+/g, 'N')).trimEnd()

const root = makeFolder()
const folderOf = (page: string) => join(root, page.replace('/', '-'))
const put = (path: string, content: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

beforeAll(() => {
  chmodSync(root, 0o755) // an embedded server may run under another account
  for (const [name, text] of Object.entries(PROGRAMS)) {
    put(join(root, 'bin', name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(root, 'bin', name), 0o755)
  }
  for (const page of new Set(commands.map((command) => command.page))) {
    const files = { ...FILES, ...FILES_OF[page] }
    for (const [name, text] of Object.entries(files)) put(join(folderOf(page), name), text)
  }
})

interface Ended {
  readonly code: number
  readonly said: string
}

function run(page: string, line: string, rule: Rule | undefined): Promise<Ended> {
  const child = spawn('sh', ['-c', `exec 2>&1; ${line}`], {
    cwd: folderOf(page),
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      PATH: `${join(root, 'bin')}:${process.env['PATH']}`,
      GITHUB_STEP_SUMMARY: join(root, 'summary.md'),
      NO_COLOR: '1',
    },
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
    if (rule?.ended && rule.says?.test(said)) child.kill('SIGTERM')
  })
  return new Promise((resolve) =>
    child.once('close', (code, signal) =>
      resolve({ code: code ?? 128 + constants.signals[signal!], said }),
    ),
  )
}

describe('the commands of the documentation', { timeout: LONG ? 600_000 : 120_000 }, () => {
  for (const { page, place, line } of commands) {
    const rule = ruleOf(line)
    it.skipIf(rule?.instead === null)(`run: ${place}: ${line}`, async () => {
      const { code, said } = await run(page, rule?.instead?.(line) ?? line, rule)
      expect(rule?.codes ?? VERDICTS, said).toContain(code)
      if (rule?.says) expect(said).toMatch(rule.says)
      const told = TOLD[line]
      if (told !== undefined) expect(anyExample(said)).toContain(anyExample(told))
    })
  }

  it('are there, whatever is told of them', () => {
    const lines = commands.map(({ line }) => line)
    expect(Object.keys(TOLD).filter((line) => !lines.includes(line))).toEqual([])
  })

  it('are many, most of them run, and every rule is of some', () => {
    expect(commands.length).toBeGreaterThan(50)
    const unused = ELSEWHERE.filter(({ when }) => !commands.some(({ line }) => when.test(line)))
    expect(unused.map(({ why }) => why)).toEqual([])
    const left = commands.filter(({ line }) => ruleOf(line)?.instead === null)
    expect(left.length).toBeLessThan(commands.length / 3)
  })

  it('would fail with an option that is not there', async () => {
    const { code, said } = await run('README.md', 'isobar check h.txt --levels si', undefined)
    expect(said).toContain('--levels')
    expect(VERDICTS).not.toContain(code)
  })
})
