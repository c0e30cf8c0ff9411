// PostgreSQL's password file: a line is host:port:database:user:password, * matches anything, \
// stands before a colon or a backslash that is meant as such. As libpq does, a file that others
// may read is not used. Main function: findPassword.

import { readFileSync, statSync } from 'node:fs'

export interface Login {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
}

/** The password of the first line that fits; undefined if there is none, or no such file. */
export function findPassword(path: string, login: Login): string | undefined {
  let text: string
  try {
    const { mode } = statSync(path)
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) return undefined
    text = readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
  // A socket of this machine goes by the name localhost.
  const hosts = login.host.startsWith('/') ? [login.host, 'localhost'] : [login.host]
  const wanted = [hosts, [String(login.port)], [login.database], [login.user]]
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue
    const fields = splitFields(line)
    const fits = wanted.every((names, i) => fields[i] === '*' || names.includes(fields[i] ?? ''))
    if (fits && fields.length > 4) return fields[4]
  }
  return undefined
}

function splitFields(line: string): string[] {
  return Array.from(line.matchAll(/((?:\\.|[^:\\])*)(?::|$)/g), ([, field]) =>
    field!.replace(/\\(.)/g, '$1'),
  )
}
