// What stands between the words of SQL: white space as PostgreSQL has it, and comments, which nest.
// Main function: skipGap.

const GAP = /(?:[ \t\n\r\f\v]+|--[^\n\r]*)*/y

/** Where the next word begins; ~(where a comment begins that has no end), which is negative. */
export function skipGap(text: string, start: number): number {
  let at = start
  for (;;) {
    GAP.lastIndex = at
    at += GAP.exec(text)![0].length
    if (!text.startsWith('/*', at)) return at
    const opened = at
    let depth = 0
    do {
      if (text.startsWith('/*', at)) depth++
      else if (text.startsWith('*/', at)) depth--
      else {
        if (++at >= text.length) return ~opened
        continue
      }
      at += 2
    } while (depth > 0)
  }
}
