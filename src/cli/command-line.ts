// Command lines for people to run again: quoted for a shell, without secrets.

import { shellWord } from '../base/shell.ts'

/** Joins arguments so that a POSIX shell reads them as they are. */
export function quoteCommand(argv: readonly string[]): string {
  return argv.map((part) => shellWord(redact(part))).join(' ')
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
