// --open, with something in PATH that stands for the desktop.

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../record/stage.ts'
import { isobar, makeFolder, put } from './command.ts'

const folder = makeFolder()
const history = put(folder, 'h.txt', 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)\n')
const opener = { darwin: 'open', win32: 'cmd' }[process.platform as string] ?? 'xdg-open'

/** A folder with an opener that notes what it was asked to open. */
function fakeDesktop(name: string) {
  const bin = join(folder, name)
  mkdirSync(bin)
  const note = join(bin, 'opened')
  writeFileSync(
    join(bin, opener),
    `#!/bin/sh\nprintf '%s' "$1" > "${note}.tmp"\n/bin/mv "${note}.tmp" "${note}"\n`,
  )
  chmodSync(join(bin, opener), 0o755)
  return {
    env: { PATH: bin },
    opened: () => eventually(() => existsSync(note)).then(() => readFileSync(note, 'utf8')),
  }
}

describe.skipIf(process.platform === 'win32')('--open', () => {
  it('opens the report that check wrote', async () => {
    const { env, opened } = fakeDesktop('check')
    const page = join(folder, 'check.html')
    const { code, err } = isobar(['check', history, '--report', page, '--open'], undefined, { env })
    expect([code, err]).toEqual([0, ''])
    expect(await opened()).toBe(page)
  })

  it('opens what isobar report wrote, and the report of a run', async () => {
    const verdict = put(folder, 'v.json', isobar(['check', history, '--json']).out)
    const first = fakeDesktop('report')
    expect(isobar(['report', verdict, '--open'], undefined, { env: first.env }).code).toBe(0)
    expect(await first.opened()).toBe(join(folder, 'v.html'))
    const second = fakeDesktop('run')
    const run = ['run', 'sim:ser', '--transactions', '20', '--out', join(folder, 'out'), '--open']
    expect(isobar(run, undefined, { env: second.env }).code).toBe(0)
    expect(await second.opened()).toBe(join(folder, 'out', 'report.html'))
  })

  it('says where the report is if nothing can open it', () => {
    const page = join(folder, 'alone.html')
    const env = { PATH: join(folder, 'empty') }
    const { code, err } = isobar(['check', history, '--report', page, '--open'], undefined, { env })
    expect(code).toBe(0)
    expect(err).toBe(`isobar: there is no ${opener} here to open it with: file://${page}\n`)
  })

  it('needs a report to open', () => {
    for (const rest of [[], ['--report', '-'], ['--svg', join(folder, 'c.svg')]]) {
      const { code, err } = isobar(['check', history, '--open', ...rest])
      expect([code, err]).toEqual([2, expect.stringContaining('--open opens a report')])
    }
    const verdict = put(folder, 'w.json', isobar(['check', history, '--json']).out)
    expect(isobar(['report', verdict, join(folder, 'w.svg'), '--open']).code).toBe(2)
  })
})
