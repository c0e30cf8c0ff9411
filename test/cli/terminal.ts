// Runs commands in a folder of their own and keeps what they print.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, vi } from 'vitest'
import { run } from '../../src/cli/main.ts'

export interface Terminal {
  /** A path in the folder. */
  path(name: string): string
  /** Runs a command and returns its exit code; `output` and `errors` are of this run only. */
  run(...argv: string[]): Promise<number>
  folder: string
  output: string
  errors: string
}

/** A terminal for every test of the file, with an empty folder each. */
export function useTerminal(): Terminal {
  const terminal: Terminal = {
    folder: '',
    output: '',
    errors: '',
    path: (name) => join(terminal.folder, name),
    run: (...argv) => {
      terminal.output = ''
      terminal.errors = ''
      return run(argv)
    },
  }
  beforeEach(() => {
    terminal.folder = mkdtempSync(join(tmpdir(), 'isobar-cli-'))
    vi.spyOn(process.stdout, 'write').mockImplementation((text, ...rest) => {
      terminal.output += text
      for (const done of rest) if (typeof done === 'function') (done as () => void)()
      return true
    })
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      terminal.errors += text
      return true
    })
  })
  afterEach(() => {
    vi.restoreAllMocks()
    rmSync(terminal.folder, { recursive: true })
  })
  return terminal
}
