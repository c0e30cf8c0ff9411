// Runs the built command line as a user would, in a folder of its own: in a process where it needs
// one, else in a thread that stays for the next command of the test file, because to start a
// process takes a quarter of a second of a processor.

import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll } from 'vitest'
import { runInThread } from './thread.ts'

const BIN = resolve(import.meta.dirname, '../../bin/isobar.js')

export interface Outcome {
  code: number | null
  out: string
  err: string
}

/** A folder that disappears with the test file. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'isobar-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Writes a file into the folder; returns its path. */
export function put(folder: string, name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

/** These start servers, and processes that outlive them if they fail. */
const NEED_PROCESS = ['demo', 'conformance', 'fleet', 'proxy', 'replay']

/** In a process of its own if it has anything of that: standard input, maybe written as -, or a place. */
export function isobar(
  args: readonly string[],
  input?: string | Uint8Array,
  place?: Place,
): Outcome {
  const isApart = input !== undefined || place !== undefined || args.includes('-')
  if (isApart || NEED_PROCESS.includes(args[0]!)) return runInProcess(args, input, place)
  return runInThread(args)
}

interface Place {
  readonly cwd?: string
  readonly env?: Record<string, string>
}

export function runInProcess(
  args: readonly string[],
  input?: string | Uint8Array,
  place: Place = {},
): Outcome {
  const child = spawnSync(process.execPath, [BIN, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    ...(input === undefined ? {} : { input }),
    ...(place.cwd === undefined ? {} : { cwd: place.cwd }),
    ...(place.env === undefined ? {} : { env: { ...process.env, ...place.env } }),
  })
  return { code: child.status, out: child.stdout, err: child.stderr }
}

/** Starts it in a folder, beside whatever else runs; its exit code. */
export function startIsobar(args: readonly string[], folder: string): Promise<number | null> {
  const child = spawn(process.execPath, [BIN, ...args], { cwd: folder, stdio: 'ignore' })
  return new Promise((resolve) => child.once('close', resolve))
}
