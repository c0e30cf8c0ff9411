import { spawn, spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { undecided } from '../../src/check/certified.ts'
import { judge } from '../../src/check/judge.ts'
import { expectDecided, type OnDiskRequest, Undecided } from '../../src/cli/check-on-disk.ts'
import { readHistory } from '../../src/formats/open.ts'
import { runInProcess as isobar } from './command.ts' // its memory counts

const BIN = resolve(import.meta.dirname, '../../bin/isobar.js')
const folder = mkdtempSync(join(tmpdir(), 'isobar-test-'))
const scratch = mkdtempSync(join(tmpdir(), 'isobar-test-'))
afterAll(() => {
  rmSync(folder, { recursive: true })
  rmSync(scratch, { recursive: true })
})

/** A history with so many blanks around it that it would not fit into 256 MB. */
function large(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  const blanks = `${' '.repeat((1 << 20) - 1)}\n`.repeat(15)
  for (let i = 0; i < 7; i++) appendFileSync(path, blanks)
  return path
}

const sound = large('sound.txt', 'w(1,1,0,1)\nr(1,1,1,2)\n')
const stale = large('stale.txt', 'w(1,1,0,1)\nw(1,2,0,2)\nr(1,2,1,3)\nr(1,1,1,4)\n')
const MEMORY = ['--memory', '256m', '--scratch', scratch]

/** A serial store of two sessions, told one after the other, so that nobody proves it as it stands. */
function sessionBySession(txns: number): string {
  const last = [0, 0, 0, 0, 0, 0, 0]
  const sessions = ['', '']
  for (let id = 1; id <= txns; id++) {
    const [x, y] = [(id * id) % 7, (id * 5 + 1) % 7]
    const session = id % 3 === 0 ? 1 : 0
    sessions[session] += `r(${y},${last[y]},${session},${id})\nw(${x},${id},${session},${id})\n`
    last[x] = id
  }
  return sessions.join('')
}

describe('isobar check --memory', () => {
  it('judges a file on disk that does not fit', () => {
    const { code, out } = isobar(['check', sound, '--level', 'rc,ra,cc,si,ser', ...MEMORY])
    expect(out).toMatch(/judged on disk: 2 sessions, 2 transactions, 2 operations, 1 key/)
    expect(out).toMatch(/cc +satisfied/)
    expect(out).toMatch(/ser +satisfied/)
    expect(code).toBe(0)
    expect(readdirSync(scratch)).toEqual([])
  })

  it('tells a violation as ever, by the names of the file', () => {
    const { code, out } = isobar(['check', stale, '--level', 'cc', ...MEMORY, '--json'])
    expect(code).toBe(1)
    const verdict = JSON.parse(out)
    expect(verdict.history).toMatchObject({ transactions: 4, sessions: 2 })
    expect(verdict.results[0]).toMatchObject({ verdict: 'violated', position: 1 })
    expect(out).toContain('T4')
    const told = isobar(['check', stale, '--level', 'cc', ...MEMORY])
    expect(told.out).toContain('T4')
  })

  it('says beforehand what cannot be judged on disk, and gives up as ever', () => {
    const { code, err } = isobar(['check', sound, '--level', 'pc', ...MEMORY])
    expect(err).toContain(
      'is not judged on disk: of the levels rc, ra, cc, si and ser can be, pc cannot',
    )
    expect([0, 3]).toContain(code)
    expect(isobar(['check', sound, '--level', 'cc', '--memory', '256m', '--no-scratch']).err).toBe(
      '',
    )
    const little = isobar(['check', sound, '--level', 'cc', '--memory', '150m'])
    expect(little.err).toContain('is not judged on disk: that takes --memory 256m or more')
  })

  describe('where memory may do', () => {
    // The program begins with so much in memory that little is left, however small the file.
    const ballast = join(folder, 'ballast.cjs')
    writeFileSync(ballast, 'globalThis.ballast = Buffer.alloc(300 * 2 ** 20, 1)')
    const full = (...args: string[]) => {
      const env = { NODE_OPTIONS: `--require ${ballast}` }
      return isobar(['check', ...args, '--memory', '256m'], undefined, { env })
    }
    const text = sessionBySession(400)
    const path = join(folder, 'may-fit.txt')
    writeFileSync(path, text)

    it('judges on disk what memory did not decide', () => {
      const levels = ['rc', 'cc', 'si', 'ser'].flatMap((level) => [level, `${level},pc`])
      for (const level of levels) {
        const { out, code, err } = full(path, '--level', level, '--scratch', scratch)
        expect(out, level).toMatch(/judged on disk: 2 sessions, 400 transactions/)
        expect(out).toMatch(new RegExp(`${level.split(',')[0]} +satisfied`))
        if (level.endsWith('pc')) expect(out).toMatch(/pc +unknown .*memory budget of 256 MB/)
        expect([code, err]).toEqual([level.endsWith('pc') ? 3 : 0, ''])
      }
      const json = JSON.parse(full(path, '--level', 'pc,cc', '--json').out)
      expect(json.results.map((at: { verdict: string }) => at.verdict)).toEqual([
        'unknown',
        'satisfied',
      ])
    })

    it('judges on disk what could not be read into memory', () => {
      const more = join(folder, 'unread.txt')
      writeFileSync(more, text + ' \n'.repeat(1 << 20))
      const { out, code } = full(more, '--level', 'pc,ser')
      expect(out).toMatch(/pc +unknown .*MB of the history were read/)
      expect(out).toMatch(/ser +satisfied/)
      expect(code).toBe(3)
      const kept = full(more, '--level', 'ser', '--no-scratch')
      expect(kept.err).toContain('of the history were read')
      expect(kept.code).toBe(3)
    })

    it('keeps the orders that memory found, where they are written down', async () => {
      const input = await readHistory(path)
      const levels = [{ level: 'pc' as const }, { level: 'ser' as const }]
      const [pc] = await judge(input.history, levels)
      const check = { memoryBytes: 256 * 2 ** 20 }
      const place = { path, format: null, levels, scratch: undefined, needsAll: null }
      const left = (prove: boolean) => {
        const request: OnDiskRequest = { ...place, prove, check }
        try {
          expectDecided(input, [pc!, undecided('ser')], request, 0)
        } catch (error) {
          if (error instanceof Undecided) return error.results
          throw error
        }
        return null
      }
      expect(pc!.proof).not.toBeNull()
      expect(left(true)).toEqual([pc, undecided('ser')])
      expect(left(false)).toEqual([{ ...pc, proof: null }, undecided('ser')])
    })

    it('finds what is violated', () => {
      const bad = join(folder, 'may-fit-bad.txt')
      writeFileSync(bad, `${text}r(1,80,3,90)\nr(1,79,3,90)\nr(1,81,3,90)\n`)
      writeFileSync(bad, `${text}w(8,1,3,901)\nw(8,2,3,902)\nr(8,2,4,903)\nr(8,1,4,904)\n`)
      const { out, code } = full(bad, '--level', 'cc')
      expect(out).toMatch(/cc +violated/)
      expect(code).toBe(1)
    })

    it('says what memory says where it must not go to disk', () => {
      const report = ['--report', join(folder, 'report.html')]
      for (const args of [['--no-scratch'], ['--session-order', 'off'], report]) {
        const { out, code } = full(path, '--level', 'ser', ...args)
        expect(out).toMatch(/ser.* +unknown .*the memory budget of 256 MB ran out/)
        expect(out).not.toContain('on disk')
        expect(code).toBe(3)
      }
      const env = { NODE_OPTIONS: `--require ${ballast}` }
      const nowhere = { ...env, TMPDIR: join(folder, 'nowhere') }
      const kept = isobar(['check', path, '--level', 'ser', '--memory', '256m'], undefined, {
        env: nowhere,
      })
      expect(kept.out).toMatch(/ser +unknown .*the memory budget of 256 MB ran out/)
      expect([kept.code, kept.err]).toEqual([3, ''])
      // What came through a pipe cannot be read again.
      const piped = isobar(['check', '-', '--level', 'ser', '--memory', '256m'], text, { env })
      expect(piped.out).toMatch(/ser +unknown .*the memory budget of 256 MB ran out/)
      expect(piped.code).toBe(3)
    })
  })

  it('tells what isobar verify finds in the file', () => {
    const plume = 'w(9,7,3,9)\nw(1,1,0,1)\nw(1,2,0,2)\nr(9,7,1,3)\nr(1,2,1,3)\nr(1,1,1,4)\n'
    const lines = [
      '{"isobar":1,"initial":0,"unit":"ms"}',
      '{"session":3,"start":0,"finish":1,"ops":[["w",9,7]]}',
      '{"session":0,"start":1,"finish":2,"ops":[["w",1,1]]}',
      '{"session":0,"start":3,"finish":4,"ops":[["w",1,2]]}',
      '{"session":1,"start":5,"finish":6,"level":"si","ops":[["r",9,7],["r",1,2]]}',
      '{"session":1,"start":7,"finish":8,"ops":[["r",1,1]]}',
    ]
    const verdict = join(folder, 'verdict.json')
    const [all, sound] = [lines.join('\n'), lines.slice(0, 5).join('\n')]
    for (const [name, text] of [
      ['a.txt', plume],
      ['a.jsonl', all],
      ['sound.jsonl', sound],
    ] as const) {
      const args = ['--level', 'cc,ser', ...MEMORY, '--json']
      writeFileSync(verdict, isobar(['check', large(`large-${name}`, `${text}\n`), ...args]).out)
      const path = join(folder, name)
      writeFileSync(path, text)
      const { code, out } = isobar(['verify', path, verdict])
      expect(out).not.toContain('REFUTED')
      expect(code).toBe(0)
    }
  })

  it('keeps to the orders that it was told to respect', () => {
    const lines = [
      { isobar: 1, initial: 0 },
      { id: 1, session: 's1', start: 0, finish: 1, ops: [['w', 'x', 1]] },
      { id: 2, session: 's2', start: 2, finish: 3, ops: [['r', 'x', 0]] },
    ]
    const path = large('late.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const args = ['check', path, '--level', 'ra', ...MEMORY]
    expect(isobar(args).out).toContain('judged on disk')
    for (const order of ['session,real-time', 'real-time', 'none']) {
      const { err, out } = isobar([...args, '--order', order])
      expect(err).toContain('is not judged on disk: that takes session order, and no other')
      expect(out).not.toMatch(/ra +satisfied.*real time/)
    }
  })

  it('refuses a scratch directory that is none', () => {
    const { code, err } = isobar([
      'check',
      sound,
      '--level',
      'cc',
      '--memory',
      '256m',
      '--scratch',
      sound,
    ])
    expect(code).toBe(2)
    expect(err).toContain('is not a directory')
  })

  const isLinux = process.platform === 'linux'

  it.skipIf(!isLinux)('leaves nothing behind when it is interrupted', async () => {
    const path = large('long.txt', sessionBySession(400_000))
    const child = spawn(process.execPath, [BIN, 'check', path, '--level', 'cc', ...MEMORY])
    const ended = new Promise((resolve) => child.once('close', resolve))
    const hasScratch = () => {
      const { stdout } = spawnSync('ls', ['-l', `/proc/${child.pid}/fd`], { encoding: 'utf8' })
      return /isobar-scratch.*\(deleted\)/.test(stdout) // what has a name goes with the next run
    }
    while (!hasScratch()) await sleep(5)
    child.kill('SIGINT')
    await ended
    expect([child.exitCode, child.signalCode]).toEqual([null, 'SIGINT'])
    expect(readdirSync(scratch)).toEqual([])
  })

  const disk = mkdtempSync(join(tmpdir(), 'isobar-test-'))
  const mounting = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk])
  afterAll(() => {
    if (mounting.status === 0) spawnSync('umount', ['--lazy', disk])
    rmSync(disk, { recursive: true, force: true })
  })

  it.skipIf(mounting.status !== 0)('says that the disk is full', () => {
    const path = large('much.txt', sessionBySession(40_000))
    const args = ['--level', 'cc', '--memory', '256m', '--scratch', disk]
    const { code, err, out } = isobar(['check', path, ...args])
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain('the disk of the scratch directory is full')
    expect(err).toContain('hint: name a directory with more room: --scratch DIR')
    expect(readdirSync(disk)).toEqual([])
  })
})
