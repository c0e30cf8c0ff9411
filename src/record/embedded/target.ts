// The target `embedded`: a PostgreSQL that is started for the run.

import { UsageError } from '../../base/errors.ts'
import { POSTGRES_LEVELS } from '../postgres/connection.ts'
import { DRIVER, openPostgres } from '../postgres/target.ts'
import type { OpenOptions, OpenTarget, Target, TargetKind } from '../target.ts'
import type { Makers } from '../trouble.ts'
import { findEmbeddedPackage, MAJORS } from './binaries.ts'
import { EmbeddedServer } from './server.ts'

export const EMBEDDED: TargetKind = {
  form: 'embedded[:MAJOR]',
  about: `a real PostgreSQL from npm, started for the run, gone afterwards (${MAJORS[0]} … ${MAJORS.at(-1)})`,
  pattern: /^embedded(:|$)/,
  driver: DRIVER,
  trial: {
    product: 'embedded PostgreSQL',
    tryOut: async () => {
      const server = await EmbeddedServer.start()
      await server.stop()
      const others = MAJORS.filter((major) => major !== server.major && findEmbeddedPackage(major))
      const also = others.length === 0 ? '' : `; also here: ${others.join(', ')}`
      return `started and stopped ${EmbeddedServer.packageVersion()}${also}`
    },
  },
  parse: (text) => embeddedTarget(majorOf(text)),
}

/** `embedded:14`; undefined for the usual version. */
function majorOf(text: string): number | undefined {
  const [, word] = text.split(':')
  if (word === undefined) return undefined
  const major = MAJORS.find((each) => String(each) === word)
  if (major !== undefined) return major
  throw new UsageError(
    'there is no such version of the embedded PostgreSQL',
    `there are embedded:${MAJORS[0]} to embedded:${MAJORS.at(-1)}`,
  )
}

function embeddedTarget(major: number | undefined): Target {
  return {
    product: 'PostgreSQL',
    levels: POSTGRES_LEVELS,
    usualLevel: 'ser',
    undisturbed: null,
    ownsServer: true,
    // The keeper of the server removes all of it once this process is gone.
    tidyMs: 0,
    open: (options) => openEmbedded(major, options),
  }
}

async function openEmbedded(major: number | undefined, options: OpenOptions): Promise<OpenTarget> {
  const server = await EmbeddedServer.start({ major, settings: options.serverSettings ?? {} })
  try {
    const opened = await openPostgres(server.address, options)
    const close = async () => {
      await opened.close()
      await server.stop()
    }
    const makers: Makers = {
      restart: () => server.restart(),
      kill: () => server.kill(),
      stop: async ({ ms }, wait) => {
        server.freeze()
        await wait(ms)
        server.thaw()
      },
    }
    return { ...opened, makers, close }
  } catch (error) {
    await server.stop()
    throw error
  }
}
