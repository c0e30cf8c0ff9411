import { describe, expect, it, vi } from 'vitest'
import { JobPool } from '../../src/fleet/job-pool.ts'
import type { Task } from '../../src/fleet/result.ts'

const LIMITS = { timeMs: 600_000, memoryBytes: 100 * 1024 ** 2 }
const TASK: Task = {
  job: { kind: 'file', path: 'x', levels: ['si'], part: null, input: null },
  ...{ bytes: Buffer.from(''), budgetMs: 1000, keep: 'none' },
}
/** Takes its job, and never ends it. */
const SILENT = ['-e', "process.on('message', () => {})", '--']

describe('JobPool', () => {
  it('starts nothing for those who wait when it is closed', async () => {
    const pool = new JobPool(1, SILENT)
    const [first, ...others] = [1, 2, 3].map(() => pool.run(TASK, LIMITS))
    pool.close()
    expect(await first).toMatchObject({ outcome: 'failed', blame: 'machine' })
    for (const other of others) expect(await other).toMatchObject({ reason: 'the worker ends' })
    expect(await pool.run(TASK, LIMITS)).toMatchObject({ reason: 'the worker ends' })
  })

  it('goes on when a process cannot be started', async () => {
    const pool = new JobPool(1, SILENT)
    const lacks = {
      outcome: 'failed',
      reason: expect.stringMatching(/could not be started: .*ENOENT/),
    }
    vi.stubEnv('TMPDIR', '/no/such/directory')
    try {
      expect(await pool.run(TASK, LIMITS)).toMatchObject(lacks)
      expect(await pool.run(TASK, LIMITS)).toMatchObject(lacks)
    } finally {
      vi.unstubAllEnvs()
    }
    const node = process.execPath
    process.execPath = '/no/such/program'
    try {
      expect(await pool.run(TASK, LIMITS)).toMatchObject(lacks)
    } finally {
      process.execPath = node
    }
    pool.close()
  })
})
