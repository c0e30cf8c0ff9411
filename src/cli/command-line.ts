// Command lines for people to run again: quoted for a shell, without secrets.

import { inert } from '../base/inert.ts'

/** Joins arguments so that a POSIX shell reads them as they are. */
export function quoteCommand(argv: readonly string[]): string {
  return argv.map((part) => quote(redact(part))).join(' ')
}

function quote(part: string): string {
  if (/^[\w@%+=:,./-]+$/.test(part)) return part
  // What a terminal would obey is spelt out.
  if (inert(part) !== part) {
    return `$'${inert(part.replace(/[\\']/g, '\\$&'))}'`
  }
  return `'${part.replace(/'/g, "'\\''")}'`
}

/** Takes the password out of an address, also of one that is mistyped: user:secret@, password=. */
function redact(text: string): string {
  return text
    .replace(/((?:password|passwd|pass|pwd|token|secret)\s*=\s*)('[^']*'|[^\s&#]*)/gi, '$1***')
    .replace(/:(?!\/\/).*@/s, ':***@')
}

/** A command line may hold a password; what is said about it must not. */
export function withoutSecrets(text: string, argv: readonly string[]): string {
  let told = text
  for (const word of argv) {
    const harmless = redact(word)
    if (harmless !== word) told = told.replaceAll(word, harmless)
  }
  return told
}
