// Words of a command line as a POSIX shell reads them. Main function: shellWord.

import { inert } from './inert.ts'

/** Quoted, if it has to be. */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text
  // What a terminal would obey is spelt out.
  if (inert(text) !== text) return `$'${inert(text.replace(/[\\']/g, '\\$&'))}'`
  return `'${text.replace(/'/g, "'\\''")}'`
}
