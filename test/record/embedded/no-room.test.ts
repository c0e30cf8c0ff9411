import { afterEach, describe, expect, it, vi } from 'vitest'
import { DatabaseError } from '../../../src/base/errors.ts'
import { EmbeddedServer } from '../../../src/record/embedded/server.ts'

describe('EmbeddedServer.start', () => {
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  it.each(['/nonexistent', '/dev/null'])('says that there is no room in %s', async (folder) => {
    vi.stubEnv('TMPDIR', folder)
    const failure = await EmbeddedServer.start().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(DatabaseError)
    expect((failure as DatabaseError).message).toContain('the embedded server has no room')
    expect((failure as DatabaseError).hint).toContain('set TMPDIR')
  })
})
