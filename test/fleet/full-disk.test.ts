// Disks that are full: of the server that keeps the fleet, and of a worker. They are small ones in
// memory, which only root can make.

import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { isobar } from '../cli/command.ts'
import { makeHome, openIn } from './stage.ts'

const DISK_BYTES = 160_000_000
const disk = makeHome()
const isMounted = mount(disk)
if (!isMounted) process.stderr.write('skipped: full disks, since none can be mounted here\n')

function mount(at: string): boolean {
  const options = `size=${DISK_BYTES},mode=711`
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', at])
  if (status === 0) afterAll(() => void spawnSync('umount', ['--lazy', at]))
  return status === 0
}

const home = makeHome()
const ballast = join(disk, 'ballast')

/** Leaves so many bytes of the disk. */
function fill(leftBytes: number): void {
  rmSync(ballast, { force: true })
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(ballast, Buffer.alloc(bavail * bsize - leftBytes))
}

function putPlan(name: string, text: string): string {
  const path = join(home, `${name}.yaml`)
  writeFileSync(path, text)
  return path
}

const fleet = (data: string, ...args: string[]) => isobar(['fleet', ...args, '--data', data])

describe.skipIf(!isMounted)('a fleet', () => {
  it('says that the disk of its server is full, and goes on when there is room', () => {
    const data = join(disk, 'data')
    const small = putPlan(
      'small',
      'targets: [sim:ser]\nparameters: {sessions: 2, transactions: 5}\nseeds: 1..3\n',
    )
    // A small history in a large file: it travels through the server.
    const history = join(home, 'large.txt')
    writeFileSync(history, `s1: w(x,1)\n${'# nothing\n'.repeat(1_200_000)}`)
    const large = putPlan('large', `histories: ${history}\nlevels: [si]\n`)
    expect(fleet(data, 'run', small)).toMatchObject({ code: 0 })

    fill(0)
    const closed = fleet(data, 'status')
    expect([closed.code, closed.err]).toEqual([
      4,
      expect.stringMatching(/no space left on device[\s\S]*hint: make room/i),
    ])
    rmSync(ballast)

    fill(6_000_000)
    const refused = fleet(data, 'run', large)
    expect([refused.code, refused.err]).toEqual([
      4,
      expect.stringMatching(/no space left on device[\s\S]*hint: make room/i),
    ])
    rmSync(ballast)
    const { code, out } = fleet(data, 'run', large)
    expect([code, out]).toEqual([0, expect.stringContaining('night 2 was not over: it goes on')])
    const nights = ['1', '2'].map((night) => {
      const { done, satisfied } = JSON.parse(fleet(data, 'status', '--json', '--night', night).out)
      return [done, satisfied]
    })
    expect(nights).toEqual([
      [3, 3],
      [1, 1],
    ])
  }, 300_000)

  it('tells of jobs whose worker has no room for their files, and does them again', async () => {
    const data = join(home, 'data')
    const text = 'targets: [sim:ser]\nparameters: {sessions: 2, transactions: 5}\nattempts: 1\n'
    const plan = putPlan('files', text)
    const { close } = await openIn(data)
    try {
      fleet(data, 'submit', plan)
      fill(0)
      const work = ['fleet', 'work', '--until-done', '--data', data]
      isobar(work, undefined, { env: { TMPDIR: disk } })
      expect(fleet(data, 'status', '--fail')).toMatchObject({ code: 3 })
      rmSync(ballast)
      fleet(data, 'report', join(home, 'site'))
      expect(readFileSync(join(home, 'site', 'summary.md'), 'utf8')).toMatch(
        /1 job, machine: .*ENOSPC/,
      )
      expect(fleet(data, 'retry')).toMatchObject({ code: 0 })
      isobar(work)
      expect(fleet(data, 'status', '--fail')).toMatchObject({ code: 0 })
    } finally {
      await close()
    }
  }, 300_000)
})
