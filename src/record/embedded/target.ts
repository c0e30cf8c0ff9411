// The target `embedded`: a PostgreSQL that is started for the run.

import { POSTGRES_LEVELS } from '../postgres/connection.ts'
import { DRIVER, openPostgres } from '../postgres/target.ts'
import type { OpenOptions, OpenTarget, Target, TargetKind } from '../target.ts'
import { EmbeddedServer } from './server.ts'

export const EMBEDDED: TargetKind = {
  form: 'embedded',
  about: 'a real PostgreSQL 18 from npm, started for the run, gone afterwards',
  pattern: /^embedded$/,
  driver: DRIVER,
  trial: {
    product: 'embedded PostgreSQL',
    tryOut: async () => {
      const server = await EmbeddedServer.start()
      await server.stop()
      return `started and stopped ${EmbeddedServer.packageVersion()}`
    },
  },
  parse: () => embeddedTarget(),
}

function embeddedTarget(): Target {
  return {
    product: 'PostgreSQL',
    levels: POSTGRES_LEVELS,
    usualLevel: 'ser',
    undisturbed: null,
    ownsServer: true,
    // The keeper of the server removes all of it once this process is gone.
    tidyMs: 0,
    open: openEmbedded,
  }
}

async function openEmbedded(options: OpenOptions): Promise<OpenTarget> {
  const server = await EmbeddedServer.start({ settings: options.serverSettings ?? {} })
  try {
    const opened = await openPostgres(server.address, options)
    const close = async () => {
      await opened.close()
      await server.stop()
    }
    return { ...opened, restartServer: () => server.restart(), close }
  } catch (error) {
    await server.stop()
    throw error
  }
}
