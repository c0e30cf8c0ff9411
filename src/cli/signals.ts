// Signals that end the program: Ctrl-C (SIGINT), SIGTERM, SIGHUP. One rule for all commands: the
// exit code is 128 and the signal's number, and nothing is left behind. Work that holds nothing
// but memory is ended by the signal itself, at once, which shells show as the same codes; what it
// was writing is removed by its guard (files/guard.ts). Work that holds sessions or servers
// listens: the first signal ends it in order, the second one at once.

import { EXIT } from './exit-codes.ts'

const CODES = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated, SIGHUP: EXIT.hungUp } as const
const SIGNALS = Object.keys(CODES) as (keyof typeof CODES)[]

export class Interrupt {
  private readonly controller = new AbortController()
  private code: number = EXIT.interrupted

  /** @param patienceMs how long ending in order may take after a signal; null: as long as it takes */
  constructor(private patienceMs: number | null) {}

  /** Aborted by the first signal. */
  get signal(): AbortSignal {
    return this.controller.signal
  }

  /** The exit code that belongs to the signal that came. */
  get exitCode(): number {
    return this.code
  }

  listen(): void {
    for (const name of SIGNALS) process.on(name, this.receive)
  }

  /** From now on signals end the program by themselves. */
  ignore(): void {
    for (const name of SIGNALS) process.off(name, this.receive)
  }

  setPatience(ms: number | null): void {
    this.patienceMs = ms
  }

  private readonly receive = (name: NodeJS.Signals): void => {
    if (this.signal.aborted) process.exit(this.code)
    this.code = CODES[name as keyof typeof CODES]
    if (this.patienceMs === 0) process.exit(this.code)
    this.controller.abort()
    if (this.patienceMs === null) return
    // Does not keep the program alive: it may well end in order before.
    setTimeout(() => process.exit(this.code), this.patienceMs).unref()
  }
}
