// The target `postgres://…`: a server that speaks PostgreSQL's protocol.

import { longestPartitionMs } from '../faults.ts'
import { splitHosts } from '../server-url.ts'
import {
  type OpenOptions,
  type OpenTarget,
  openServers,
  type Target,
  type TargetKind,
} from '../target.ts'
import { type PostgresAddress, parsePostgresAddress } from './address.ts'
import { POSTGRES_LEVELS } from './connection.ts'
import { PostgresDatabase } from './database.ts'

/** A dependency of this package, not an optional one. */
export const DRIVER = { name: 'pg', version: '8.23.1' }

/** Asks a server whether it speaks TLS. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

export const POSTGRES: TargetKind = {
  form: 'postgres://user@host/database',
  about: 'a PostgreSQL server of your own',
  pattern: /^postgres(ql)?:/,
  driver: DRIVER,
  trial: {
    product: 'PostgreSQL',
    port: 5432,
    hello: SSL_REQUEST,
    // The only answers to that question are S and N, and only PostgreSQL knows it.
    isAnswer: ([letter]) => letter === 83 || letter === 78,
  },
  parse: (text, { environment, password }) => {
    const [first, ...others] = splitHosts(text).map((each) =>
      parsePostgresAddress(each, environment, password),
    )
    return postgresTarget(first!, others)
  },
}

export interface PostgresTarget extends Target {
  readonly address: PostgresAddress
}

export function postgresTarget(
  address: PostgresAddress,
  others: readonly PostgresAddress[] = [],
): PostgresTarget {
  return {
    address,
    product: 'PostgreSQL',
    levels: POSTGRES_LEVELS,
    usualLevel: 'ser',
    undisturbed: null,
    ownsServer: false,
    tidyMs: 1500,
    open: (options) => openPostgres(address, options, others),
  }
}

/** @param others further nodes of the same cluster */
export function openPostgres(
  address: PostgresAddress,
  options: OpenOptions,
  others: readonly PostgresAddress[] = [],
): Promise<OpenTarget> {
  const { patienceMs, faults } = options
  const spreadMs = patienceMs + longestPartitionMs(faults)
  return openServers([address, ...others], options, (entrances) =>
    PostgresDatabase.open(address, { others, entrances, patienceMs, spreadMs }),
  )
}
