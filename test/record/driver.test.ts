import { describe, expect, it } from 'vitest'
import { loadDriver } from '../../src/record/driver.ts'

describe('loadDriver', () => {
  it('loads a package that is installed', async () => {
    const pg = await loadDriver<{ Client: unknown }>({ name: 'pg', version: '1.0.0' })
    expect(pg.Client).toBeTypeOf('function')
  })

  it('names the one line that installs a missing one', async () => {
    const missing = loadDriver({ name: 'isobar-no-such-driver', version: '1.2.3' })
    await expect(missing).rejects.toMatchObject({
      name: 'DatabaseError',
      message: 'the driver isobar-no-such-driver is not installed',
      hint: 'npm install isobar-no-such-driver@1.2.3 adds it',
    })
  })
})
