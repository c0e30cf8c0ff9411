import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { check } from '../../src/check/check.ts'
import { readHistory } from '../../src/formats/open.ts'
import { isobar } from './command.ts'
import { useTerminal } from './terminal.ts'

const terminal = useTerminal()

const LOST_UPDATE = `s0: w(y,3) | r(x,0) w(x,1) w(z,1)
s1: r(x,0) r(y,3) w(x,2) | r(x,1)
`

function put(name: string, text: string): string {
  writeFileSync(terminal.path(name), text)
  return terminal.path(name)
}

describe('isobar shrink', () => {
  test('refuses reads that do not tell whom they saw, and takes counters that do', async () => {
    const counter = (n: number) => `s1: inc(x,1)\ns2: inc(x,${n})\ns3: r(x,${n + 1}) | r(x,1)\n`
    const open = put('open.notation', counter(1))
    expect(await terminal.run('shrink', open, '--level', 'cc', terminal.path('o.notation'))).toBe(2)
    expect(terminal.errors).toContain('several possible writers cannot be shrunk')
    const told = put('told.notation', counter(2))
    expect(await terminal.run('shrink', told, '--level', 'cc', terminal.path('t.notation'))).toBe(0)
  })

  test('writes the part that matters, prints it with its verdict, and ends with 0', async () => {
    const path = put('h.notation', LOST_UPDATE)
    const out = terminal.path('small.notation')
    expect(await terminal.run('shrink', path, '--level', 'si', out)).toBe(0)
    expect(readFileSync(out, 'utf8')).toBe('s0: r(x,0) w(x,1) [id=T2]\ns1: r(x,0) w(x,2) [id=T3]\n')
    expect(terminal.output).toContain(
      'small.notation: 2 of 4 transactions, 4 of 8 operations, 2 of 2 sessions, 1 of 3 keys',
    )
    expect(terminal.output).toContain('si    violated   Snapshot Isolation: LostUpdate')
    expect(terminal.output).toContain('    s1: r(x,0) w(x,2) [id=T3]')
    expect(readdirSync(terminal.folder).sort()).toEqual(['h.notation', 'small.notation'])
  })

  test('finds the needle in a large history, in any format that can hold it', async () => {
    const path = terminal.path('h.txt')
    const size = ['--transactions', '10000', '--ops', '8', '--keys', '2000']
    const flags = ['--inject', 'long-fork', '--seed', '4', '--store', 'sser']
    expect(await terminal.run('generate', path, ...size, ...flags)).toBe(0)
    for (const out of ['a.txt', 'a.jsonl', 'a.notation', 'a.jsonl.gz']) {
      expect(await terminal.run('shrink', path, '--level', 'pc', terminal.path(out))).toBe(0)
      const { history } = await readHistory(terminal.path(out))
      expect(history.txnCount).toBeLessThan(9)
      expect(check(history, 'pc').verdict).toBe('violated')
      expect(check(history, 'cc').verdict).toBe('satisfied')
    }
    const refused = ['shrink', path, '--level', 'pc', terminal.path('a.json')]
    expect(await terminal.run(...refused)).toBe(2)
    expect(terminal.errors).toMatch(/cannot hold names .*\nhint: --lossy/)
    expect(await terminal.run(...refused, '--lossy')).toBe(0)
  })

  test('prints JSON on request, and the history alone to standard output', async () => {
    const path = put('h.notation', LOST_UPDATE)
    const out = terminal.path('small.jsonl')
    expect(await terminal.run('shrink', path, '--level', 'si', out, '--json')).toBe(0)
    const { results, history } = JSON.parse(terminal.output)
    expect(results[0].anomalies[0].name).toBe('LostUpdate')
    expect(history.transactions).toBe(2)
    const { code, out: text } = isobar(['shrink', path, '--level', 'si', '-', '--to', 'notation'])
    expect([code, text]).toEqual([0, 's0: r(x,0) w(x,1) [id=T2]\ns1: r(x,0) w(x,2) [id=T3]\n'])
  })

  test('ends with 2 if the level holds, with 3 if that is unknown', async () => {
    const path = put('h.notation', 's0: w(x,1)\ns1: r(x,1)\n')
    const out = terminal.path('small.notation')
    expect(await terminal.run('shrink', path, '--level', 'ser', out)).toBe(2)
    expect(terminal.errors).toContain('satisfies ser (Serializability): there is nothing to shrink')
    expect(await terminal.run('shrink', path, '--level', 'sser', out)).toBe(3)
    expect(terminal.errors).toContain('is unknown: the history has no times')
    expect(readdirSync(terminal.folder)).toEqual(['h.notation'])
  })

  test.runIf(process.platform !== 'win32')(
    'ends within its budget when nobody writes into the pipe that it reads',
    async () => {
      const pipe = terminal.path('pipe')
      spawnSync('mkfifo', [pipe])
      const argv = ['shrink', pipe, terminal.path('out'), '--level', 'si', '--budget', '1ms']
      expect(await terminal.run(...argv)).toBe(3)
      expect(terminal.errors).toMatch(/the time budget of 1 ms ran out; nothing more came/)
      expect(readdirSync(terminal.folder)).toEqual(['pipe'])
    },
  )

  const BAD: [string[], RegExp][] = [
    [['--level', 'si,ser'], /exactly one level/],
    [['--level', 'xx'], /unknown level "xx"\nhint: there are /],
    [[], /needs the level that is violated\nhint: --level ID, or --verdict FILE/],
    [['--level', 'si', '--to', 'csv'], /unknown format "csv"/],
    [['--level', 'si', '--format', 'csv'], /unknown format "csv"/],
    [['--level', 'si', '--budget', 'soon'], /is not a duration/],
  ]
  test.each(BAD)('refuses %s', async (flags, message) => {
    const path = put('h.notation', LOST_UPDATE)
    expect(await terminal.run('shrink', path, terminal.path('out'), ...flags)).toBe(2)
    expect(terminal.errors).toMatch(message)
    expect(readdirSync(terminal.folder)).toEqual(['h.notation'])
  })

  test('begins with the evidence of a verdict file, which must be true', async () => {
    const path = put('h.notation', LOST_UPDATE)
    const verdict = terminal.path('v.json')
    const out = terminal.path('small.notation')
    await terminal.run('check', path, '--certificate', verdict)
    const argv = ['shrink', path, out, '--verdict', verdict]
    expect(await terminal.run(...argv, '--level', 'rc')).toBe(2)
    expect(terminal.errors).toContain('v.json does not say that rc is violated')
    expect(await terminal.run(...argv)).toBe(0)
    expect(readFileSync(out, 'utf8')).toBe('s0: r(x,0) w(x,1) [id=T2]\ns1: r(x,0) w(x,2) [id=T3]\n')
    const text = readFileSync(verdict, 'utf8')
    writeFileSync(verdict, text.replaceAll('"from":"T2"', '"from":"T3"'))
    expect(await terminal.run(...argv, '--force')).toBe(2)
    expect(terminal.errors).toContain('v.json is not true')
    const other = put('other.notation', 's0: w(x,1)\n')
    writeFileSync(verdict, text)
    expect(await terminal.run('shrink', other, out, '--verdict', verdict, '--force')).toBe(2)
    expect(terminal.errors).toContain('it is for another history')
  })

  test('keeps the least that was found by then when Ctrl-C is pressed', async () => {
    const path = put('h.notation', LOST_UPDATE)
    const out = terminal.path('small.notation')
    const press = (name: string | symbol) => {
      if (name === 'SIGINT') setImmediate(() => process.emit('SIGINT', 'SIGINT'))
    }
    process.on('newListener', press)
    try {
      expect(await terminal.run('shrink', path, out, '--level', 'si')).toBe(130)
    } finally {
      process.off('newListener', press)
    }
    expect(terminal.errors).toContain('interrupted: there may be more to leave out')
    const { history } = await readHistory(out)
    expect(check(history, 'si').verdict).toBe('violated')
    expect(process.listenerCount('SIGINT')).toBe(0)
  })

  test('replaces an output only with --force', async () => {
    const path = put('h.notation', LOST_UPDATE)
    const out = put('out.notation', 'mine')
    const argv = ['shrink', path, out, '--level', 'si']
    expect(await terminal.run(...argv)).toBe(2)
    expect(readFileSync(out, 'utf8')).toBe('mine')
    expect(await terminal.run(...argv, '--force')).toBe(0)
    expect(readFileSync(out, 'utf8')).toContain('[id=T3]')
    expect(await terminal.run('shrink', path, path, '--level', 'si', '--force')).toBe(2)
    expect(readFileSync(path, 'utf8')).toBe(LOST_UPDATE)
  })
})
