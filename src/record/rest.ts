// Lets the transactions of a thread begin, and holds them back when the run has to come to rest.
// Main class: Rest.

export class Rest {
  private active = 0 // transactions in progress
  private held: Promise<void> | null = null // until all go on; null if nobody is held back
  private letGo: () => void = () => {}
  private alone: () => void = () => {} // called when nothing is in progress

  /** To be called before a transaction begins; `leave` when it has ended. False if it may not. */
  enter(): boolean {
    if (this.held !== null) return false
    this.active++
    return true
  }

  /** Waits until it may. */
  async enterLater(): Promise<void> {
    while (!this.enter()) await this.held
  }

  leave(): void {
    if (--this.active === 0) this.alone()
  }

  /** Nobody begins any more. Returns when nothing is in progress. */
  async come(): Promise<void> {
    this.held ??= new Promise((resolve) => {
      this.letGo = resolve
    })
    while (this.active > 0) {
      await new Promise<void>((resolve) => {
        this.alone = resolve
      })
    }
  }

  goOn(): void {
    this.held = null
    this.letGo()
  }
}
