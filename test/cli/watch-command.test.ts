// `isobar watch` as a user calls it: pipes, files that grow, restarts, metrics, and what goes wrong.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isobar, makeFolder, put } from './command.ts'

const BIN = resolve(import.meta.dirname, '../../bin/isobar.js')
const HEADER = '{"isobar":1,"initial":0}\n'
const GOOD = '{"session":0,"ops":[["w","x",1],["w","y",1]]}\n{"session":1,"ops":[["r","x",1]]}\n'
const STALE = '{"session":0,"ops":[["r","x",1],["r","y",0]]}\n'

/** A watch that runs beside the test: what it prints, line by line, and how it ends. */
function start(args: readonly string[]) {
  const child = spawn(process.execPath, [BIN, 'watch', ...args])
  let out = ''
  let err = ''
  const waiting: (() => void)[] = []
  const note = () => {
    for (const wake of waiting.splice(0)) wake()
  }
  child.stdout.on('data', (data) => {
    out += data
    note()
  })
  child.stderr.on('data', (data) => {
    err += data
    note()
  })
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      resolve(code)
      note()
    })
  })
  const until = async (isSo: (out: string, err: string) => boolean) => {
    while (!isSo(out, err)) {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${out}${err}`)
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
  }
  return { child, ended, until, said: () => out, complained: () => err }
}

describe('isobar watch', () => {
  const folder = makeFolder()

  test('judges a pipe to its end, with the exit codes of check', () => {
    expect(isobar(['watch', '-', '--level', 'cc'], HEADER + GOOD)).toMatchObject({ code: 0 })
    const bad = isobar(['watch', '-', '--level', 'cc'], HEADER + GOOD + STALE)
    expect(bad.code).toBe(1)
    expect(bad.out).toContain('ALARM after 3 transactions: cc violated')
    const cut = isobar(['watch', '-', '--level', 'cc'], `${HEADER}${GOOD}{"session":0,"op`)
    expect(cut.out).toContain('the last line was cut short')
    expect(cut.code).toBe(0)
  })

  test('is unknown where it stops while reads wait for a writer', () => {
    const waiting = `${HEADER}${GOOD}{"session":2,"ops":[["r","z",7]]}\n`
    const path = put(folder, 'waits.jsonl', waiting)
    const told = isobar(['watch', path, '--level', 'cc', '--until', '300ms'])
    expect(told.out).toMatch(/cc {2}unknown so far .*1 transaction not judged/)
    expect(told.code).toBe(3)
    const { out } = isobar(['watch', path, '--level', 'cc', '--until', '300ms', '--json'])
    const end = JSON.parse(out.trim().split('\n').at(-1)!)
    expect(end).toMatchObject({ event: 'end', waiting: 1, levels: [{ verdict: 'unknown' }] })
    const sound = put(folder, 'waits-for-none.jsonl', HEADER + GOOD)
    expect(isobar(['watch', sound, '--until', '300ms']).code).toBe(0)
    const torn = put(folder, 'torn.jsonl', `${HEADER}${GOOD}${STALE.slice(0, 40)}`)
    expect(isobar(['watch', torn, '--until', '300ms']).out).toContain(
      '40 bytes of a line that is not whole yet are not judged',
    )
    expect(isobar(['watch', sound, '--until', '300ms']).out).not.toContain('not whole')
    const nothing = put(folder, 'nothing.jsonl', HEADER)
    expect(isobar(['watch', nothing, '--until', '300ms']).code).toBe(2)
  })

  test('is unknown where the window is too small', () => {
    const old = '{"session":0,"ops":[["w","x",1]]}\n{"session":0,"ops":[["w","x",2]]}\n'
    const filler = Array.from(
      { length: 40 },
      (_, i) => `{"session":1,"ops":[["w","z",${i + 1}]]}\n`,
    )
    const input = `${HEADER}${old}${filler.join('')}{"session":2,"ops":[["r","x",1]]}\n`
    const told = isobar(['watch', '-', '--level', 'rc', '--window', '2'], input)
    expect(told.code).toBe(3)
    expect(told.out).toContain('read 1 of key "x"')
    expect(isobar(['watch', '-', '--level', 'rc'], input).code).toBe(0)
  })

  test('prints events, one JSON object a line', () => {
    const { out, code } = isobar(['watch', '-', '--json'], HEADER + GOOD + STALE)
    // How often there is a status depends on how busy the machine is.
    const lines = out.trim().split('\n')
    const events = lines.map((line) => JSON.parse(line)).filter(({ event }) => event !== 'status')
    expect(code).toBe(1)
    expect(events.map(({ event }) => event)).toEqual(['alarm', 'end'])
    expect(events[0].verdict.results[0].certificate.verified).toBe(true)
    expect(events[1]).toMatchObject({ isEnd: true, transactions: 3, waiting: 0 })
  })

  test('follows a file, raises the alarm when it comes, and stops there if asked', async () => {
    const path = put(folder, 'grows.jsonl', HEADER + GOOD.slice(0, 30))
    const watch = start([path, '--level', 'ra', '--until', 'violated', '--json'])
    await watch.until((out) => out.includes('"event":"status"'))
    appendFileSync(path, GOOD.slice(30))
    await watch.until((out) => out.includes('"transactions":2'))
    appendFileSync(path, STALE)
    expect(await watch.ended).toBe(1)
    expect(watch.said()).toContain('"event":"alarm"')
  })

  test('goes on from its checkpoint, and refuses that of others', async () => {
    const path = put(folder, 'restart.jsonl', HEADER + GOOD)
    const state = join(folder, 'state')
    const args = [path, '--level', 'ra', '--checkpoint', state, '--checkpoint-every', '10ms']
    const first = start([...args, '--json'])
    await first.until((out) => out.includes('"transactions":2') && existsSync(state))
    first.child.kill('SIGINT')
    expect(await first.ended).toBe(130)
    appendFileSync(path, STALE)
    const second = isobar(['watch', ...args, '--until', 'end'])
    expect(second.code).toBe(1)
    expect(second.out).toContain(`going on after ${(HEADER + GOOD).length} bytes, 2 transactions`)
    const refusal = (more: string[]) => isobar(['watch', ...more, '--until', 'end']).err
    expect(refusal([path, '--level', 'rc', '--checkpoint', state])).toContain('other levels (ra)')
    const other = put(folder, 'other.jsonl', `${HEADER}${GOOD}${GOOD.replaceAll('1', '2')}`)
    writeFileSync(other, HEADER.replace('0', '7') + GOOD)
    expect(refusal([other, '--level', 'ra', '--checkpoint', state])).toContain('another file')
    expect(refusal(['-', '--checkpoint', state])).toContain('cannot be read again')
    expect(refusal([path, '--checkpoint', ''])).toContain('names no directory: it is empty')
    const plume = refusal([path, '--level', 'ra', '--checkpoint', state, '--format', 'plume'])
    expect(plume).toContain('another format (native)')
  })

  test('writes a checkpoint at the end of a file, to go on if it grows', () => {
    const path = put(folder, 'ends.jsonl', HEADER + GOOD)
    const args = ['watch', path, '--until', 'end', '--checkpoint', join(folder, 'ends')]
    expect(isobar(args).code).toBe(0)
    appendFileSync(path, STALE)
    const { out, code } = isobar(args)
    expect(out).toContain(`going on after ${(HEADER + GOOD).length} bytes`)
    expect(code).toBe(1)
  })

  test('says that the file of a checkpoint is missing', () => {
    const path = put(folder, 'goes.jsonl', HEADER + GOOD)
    const args = ['watch', path, '--until', 'end', '--checkpoint', join(folder, 'goes')]
    expect(isobar(args).code).toBe(0)
    rmSync(path)
    const { code, err } = isobar(args)
    expect(code).toBe(2)
    expect(err).toContain('there is no such file')
  })

  test('says so when the file shrinks or is replaced', async () => {
    const shrinking = put(folder, 'shrinks.jsonl', HEADER + GOOD)
    const one = start([shrinking, '--json'])
    await one.until((out) => out.includes('"transactions":2'))
    truncateSync(shrinking, 10)
    expect(await one.ended).toBe(2)
    expect(one.complained()).toContain('the file has shrunk')
    const replaced = put(folder, 'replaced.jsonl', HEADER + GOOD)
    const two = start([replaced, '--json'])
    await two.until((out) => out.includes('"transactions":2'))
    renameSync(put(folder, 'new.jsonl', HEADER + GOOD + GOOD), replaced)
    expect(await two.ended).toBe(2)
    expect(two.complained()).toContain('replaced by another one')
  })

  test('shows metrics on this machine', async () => {
    const path = put(folder, 'metrics.jsonl', HEADER + GOOD)
    const watch = start([path, '--level', 'cc', '--metrics', '0', '--json'])
    await watch.until((out, err) => err.includes('/metrics\n') && out.includes('"transactions":2'))
    const address = /http:\S+/.exec(watch.complained())![0]
    const text = await (await fetch(address)).text()
    expect(text).toContain('isobar_watch_verdict{level="cc",verdict="satisfied"} 1')
    expect(text).toContain('isobar_watch_transactions_total 2')
    watch.child.kill('SIGTERM')
    expect(await watch.ended).toBe(143)
  })

  test('says what is wrong with a directory of checkpoints, and with a port', async () => {
    const path = put(folder, 'trouble.jsonl', HEADER + GOOD)
    const refusal = (...args: string[]) => isobar(['watch', path, '--until', 'end', ...args])
    const file = refusal('--checkpoint', path)
    expect(file.err).toContain('a part of the path is a file, not a directory')
    // There nothing can be made, which once was tried for ever.
    const nowhere = refusal('--checkpoint', '/proc/nope/state')
    if (process.platform === 'linux') expect(nowhere.err).toContain('there is no such directory')
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const taken = refusal('--metrics', String((server.address() as AddressInfo).port))
    expect(taken.err).toContain('another program uses it')
    server.close()
    for (const { code } of [file, nowhere, taken]) expect(code).toBe(2)
  })

  test('explains what it cannot do', () => {
    const refusal = (...args: string[]) => isobar(['watch', ...args], '').err
    expect(refusal('-', '--level', 'ser')).toContain('level ser cannot be watched')
    expect(refusal(folder)).toContain('not a file')
    expect(refusal(join(folder, 'missing'))).toContain('there is no such file')
    expect(isobar(['watch', '-'], '').code).toBe(2)
  })
})
