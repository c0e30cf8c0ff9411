// Addresses of servers, `scheme://user:password@host:port/name?parameter=value`; errors never
// repeat them, because they may contain a password. Main functions: parseServerUrl,
// splitHosts.

import { UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'
import type { Database } from './database.ts'
import type { ProxyTarget } from './fault-proxy.ts'
import { openServers, type Target } from './target.ts'

/** @param form how such an address is written, for errors */
export function parseServerUrl(text: string, form: string, parameters: readonly string[]): URL {
  const url = urlOf(text, form)
  for (const name of url.searchParams.keys()) {
    if (parameters.includes(name)) continue
    throw new UsageError(
      `"${name}" is not understood in the address of a server`,
      parameters.length === 0 ? `write it as ${form}` : hintFor(name, parameters),
    )
  }
  return url
}

function urlOf(text: string, form: string): URL {
  try {
    // URL leaves the host of schemes it does not know alone, but refuses a port without a host.
    const url = new URL(text)
    // A / or ? or # in a password ends the host's part too soon: an @ is left behind it.
    const behind = url.pathname + url.search + url.hash
    for (const part of [url.username, url.password, url.pathname]) decodeURIComponent(part)
    if (/^\w+:\/\//.test(text) && !behind.includes('@')) return url
  } catch {
    // Told below.
  }
  throw new UsageError(
    'the address of the server cannot be understood',
    `write it as ${form}, with %40 for @, %2F for / in a password`,
  )
}

/** `postgres://me@one:5432,two:5433/d` names two servers: an address for each. */
export function splitHosts(text: string): string[] {
  const [, before, hosts, after] = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/s.exec(text) ?? []
  if (hosts === undefined || !hosts.includes(',')) return [text]
  return hosts.split(',').map((host) => `${before}${host}${after}`)
}

export function portOf(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port > 0 && port < 65536) return port
  throw new UsageError('the port of the server is not a number from 1 to 65535')
}

/**
 * A target on servers that are not ours.
 * @param open takes the places that sessions are to connect to, where they are not the servers'
 */
export function serverTarget(
  about: Pick<Target, 'product' | 'levels'> & Partial<Pick<Target, 'usualLevel'>>,
  servers: readonly ProxyTarget[],
  open: (entrances: readonly Partial<ProxyTarget>[], patienceMs: number) => Promise<Database>,
): Target {
  return {
    usualLevel: 'ser',
    ...about,
    undisturbed: null,
    ownsServer: false,
    tidyMs: 1500,
    open: (options) =>
      openServers(servers, options, (entrances) => open(entrances, options.patienceMs)),
  }
}
