// Command lines for people to run again: quoted for a shell, without secrets.

/** Joins arguments so that a POSIX shell reads them as they are. */
export function quoteCommand(argv: readonly string[]): string {
  return argv.map((part) => quote(redact(part))).join(' ')
}

function quote(part: string): string {
  if (/^[\w@%+=:,./-]+$/.test(part)) return part
  // Control characters and those that reorder text are spelt out.
  if (/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/.test(part)) {
    const spelt = JSON.stringify(part)
      .slice(1, -1)
      .replace(/\\"/g, '"')
      .replace(/'/g, "\\'")
      .replace(
        /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
        (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )
    return `$'${spelt}'`
  }
  return `'${part.replace(/'/g, "'\\''")}'`
}

/** Takes the password out of an address: user:secret@host, ?password=secret. */
export function redact(text: string): string {
  return text
    .replace(/^([a-z][a-z\d+.-]*:\/\/[^/?#@]*?):[^/?#]*@/i, '$1:***@')
    .replace(/([?&](?:password|pass|pwd|token|secret|sslpassword)=)[^&#]*/gi, '$1***')
}
