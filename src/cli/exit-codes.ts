// What the process's exit code means. 1 says "violated" and nothing else.

export const EXIT = {
  satisfied: 0,
  violated: 1,
  usage: 2,
  unknown: 3,
  database: 4,
  internal: 70,
  hungUp: 129, // SIGHUP
  interrupted: 130, // SIGINT: Ctrl-C
  unread: 141, // SIGPIPE: nobody reads our output any more
  terminated: 143, // SIGTERM
} as const

/** Of two outcomes the one that is reported: 70, then 2, 1, 3, 0. */
export function worse(a: number, b: number): number {
  const rank = [EXIT.satisfied, EXIT.unknown, EXIT.violated, EXIT.usage, EXIT.internal] as number[]
  return rank.indexOf(a) >= rank.indexOf(b) ? a : b
}
