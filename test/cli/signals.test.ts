import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, closeSync, constants, existsSync, openSync, readdirSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { makeFolder } from './command.ts'

const BIN = resolve(import.meta.dirname, '../../bin/isobar.js')
const CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

const folder = makeFolder()
chmodSync(folder, 0o755) // where we are root, the server runs under another account

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [BIN, ...args], {
    cwd: folder,
    env: { ...process.env, TMPDIR: folder },
    stdio: 'ignore',
  })
}

/** What a shell says of how it ended: by a code, or by a signal. */
async function codeOf(child: ChildProcess): Promise<number | null> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, keyof typeof CODES | null]
  return signal === null ? code : CODES[signal]
}

/** Until the folder holds something whose name fits. */
async function appears(name: RegExp): Promise<void> {
  while (!readdirSync(folder).some((each) => name.test(each))) await pause(5)
}

/** The writing end of a pipe, as soon as somebody reads from it. */
async function openForReader(pipe: string): Promise<number> {
  for (;;) {
    try {
      return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK)
    } catch {
      await pause(10)
    }
  }
}

describe.runIf(process.platform !== 'win32')('a signal', () => {
  for (const [signal, code] of Object.entries(CODES)) {
    it(`${signal} ends work at once while a server starts, and leaves nothing behind`, async () => {
      const child = start(['run', '--transactions', '1000000', '--out', 'run'])
      await appears(/^isobar-server/)
      child.kill(signal as NodeJS.Signals)
      expect(await codeOf(child)).toBe(code)
      while (readdirSync(folder).length > 0) await pause(50)
    })
  }

  it('ends a command at once in the middle of writing, and leaves nothing behind', async () => {
    const args = ['generate', 'h.jsonl', '--transactions', '60000', '--force']
    for (const signal of [...Object.keys(CODES), 'SIGKILL'] as NodeJS.Signals[]) {
      const child = start(args)
      await appears(/^\.isobar/)
      child.kill(signal)
      const [code, by] = (await once(child, 'exit')) as [number | null, string | null]
      expect([code, by]).toEqual([null, signal])
      while (readdirSync(folder).length > 0) await pause(20)
    }
  }, 60_000)

  it('ends a run that waits for a file that nobody writes', async () => {
    const pipe = `${folder}/pipe`
    spawnSync('mkfifo', [pipe])
    const args = ['run', 'sim:ser', '--shape', 'sql', '--timetable', pipe]
    for (const [signal, code] of Object.entries(CODES)) {
      const child = start(args)
      const writer = await openForReader(pipe)
      child.kill(signal as NodeJS.Signals)
      expect(await codeOf(child)).toBe(code)
      closeSync(writer)
    }
    rmSync(pipe)
  }, 60_000)

  it('ends a run in order: what was recorded is kept', async () => {
    const child = start(['run', 'sim:ser', '--duration', '60s', '--out', 'run'])
    while (!existsSync(`${folder}/run/history.jsonl`)) await pause(10)
    child.kill('SIGTERM')
    expect(await codeOf(child)).toBe(143)
    expect(readdirSync(`${folder}/run`).sort()).toEqual(['history.jsonl', 'run.json'])
  }, 30_000)
})
