// The connection by which a run sets up and guards its tables. It holds a lock on the database, so
// that no two runs work on the same tables. If it is lost, a new one is opened and the lock taken
// again at once; where another run was quicker, `gone` says that this one must stop, and what there
// is now is theirs. Main class: Control.

import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseError } from '../base/errors.ts'
import { cutBy, LAST_TRY_MS, withinPatience } from './patience.ts'

/** What a control needs to know of the server's client. */
export interface Gate<Client> {
  /** Connects, ready for use. Throws what the driver throws, DatabaseError, or the signal's reason. */
  connect(signal: AbortSignal): Promise<Client>
  /** Takes the lock; from the connection that was ours before, too, if the server keeps it. */
  takeLock(client: Client, lost: Client | null): Promise<boolean>
  /** Calls back when the connection is over. */
  onEnd(client: Client, over: () => void): void
  /** Lets go of the connection, which may be over already. */
  end(client: Client): Promise<void>
  /** True if the server itself said so, and is well. */
  isAnswer(error: unknown): boolean
  /** The same in terms of the address, with a way out and without secrets. */
  asDatabaseError(error: unknown): DatabaseError
}

const TRIES_EVERY_MS = 100

export class Control<Client> {
  private readonly abort = new AbortController()
  private recovering: Promise<void> | null = null
  private isClosed = false

  private constructor(
    private readonly gate: Gate<Client>,
    private client: Client,
    private readonly patienceMs: number,
  ) {
    this.watch(client)
  }

  /** Connects and takes the lock. Throws DatabaseError. */
  static async open<Client>(gate: Gate<Client>, patienceMs: number): Promise<Control<Client>> {
    let client: Client | null
    try {
      client = await enter(gate, null, patienceMs)
    } catch (error) {
      throw gate.asDatabaseError(error)
    }
    if (client !== null) return new Control(gate, client, patienceMs)
    throw new DatabaseError(
      'another run uses this database',
      'wait for its end, or give each run a database of its own',
    )
  }

  /** Aborted, with a DatabaseError, when the run has no right to go on. */
  get gone(): AbortSignal {
    return this.abort.signal
  }

  /** Works on the connection; on a new one, and once more, whenever the server goes away. */
  async use<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const { gate } = this
    await this.recovering
    const endMs = performance.now() + this.patienceMs
    for (;;) {
      try {
        return await work(this.client)
      } catch (error) {
        const isFinal = this.isClosed || gate.isAnswer(error) || error instanceof DatabaseError
        if (isFinal || performance.now() > endMs) throw gate.asDatabaseError(error)
      }
      // A server that is going down may let us in once more.
      await this.recover()
    }
  }

  /** Does what is left to do, if that can be done, and lets go of everything. */
  async close(last: (client: Client) => Promise<void>): Promise<void> {
    this.isClosed = true
    await this.recovering?.catch(() => {})
    try {
      if (!this.gone.aborted) await this.inTime(last)
    } catch {
      // The server is gone, silent, or does not let us; the next run drops the tables.
    }
    await this.gate.end(this.client)
  }

  private inTime(last: (client: Client) => Promise<void>): Promise<void> {
    const { client, gate, patienceMs } = this
    const end = () => gate.end(client)
    return withinPatience(patienceMs, (signal) => cutBy(signal, end, () => last(client)))
  }

  private watch(client: Client): void {
    this.gate.onEnd(client, () => {
      if (!this.isClosed && client === this.client) this.recover().catch(() => {})
    })
  }

  private recover(): Promise<void> {
    this.recovering ??= this.reconnect().finally(() => {
      this.recovering = null
    })
    return this.recovering
  }

  private async reconnect(): Promise<void> {
    const { gate, client: lost } = this
    const endMs = performance.now() + this.patienceMs
    for (;;) {
      if (this.isClosed) return
      try {
        const client = await enter(gate, lost, Math.max(LAST_TRY_MS, endMs - performance.now()))
        if (client === null) return this.giveUp()
        this.client = client
        this.watch(client)
        return
      } catch (error) {
        if (error instanceof DatabaseError) throw error
        if (performance.now() > endMs) throw gate.asDatabaseError(error)
      }
      await pause(TRIES_EVERY_MS)
    }
  }

  private giveUp(): never {
    const error = new DatabaseError(
      'another run has taken this database while our connection to it was lost',
      'give each run a database of its own',
    )
    this.abort.abort(error)
    throw error
  }
}

/** Connects and takes the lock; null if another run has it. */
function enter<Client>(
  gate: Gate<Client>,
  lost: Client | null,
  patienceMs: number,
): Promise<Client | null> {
  return withinPatience(patienceMs, async (signal) => {
    const client = await gate.connect(signal)
    const end = () => gate.end(client)
    const isOurs = await cutBy(signal, end, () => gate.takeLock(client, lost))
    if (isOurs) return client
    await end()
    return null
  })
}

/** Tries to take a lock until it is ours, or somebody else's than the connection we lost. */
export async function wrestLock(
  tryLock: () => Promise<boolean>,
  findHolder: () => Promise<number | null>,
  lostHolder: number,
  end: (holder: number) => Promise<unknown>,
): Promise<boolean> {
  for (;;) {
    if (await tryLock()) return true
    const holder = await findHolder()
    if (holder !== null && holder !== lostHolder) return false
    if (holder === lostHolder) await end(lostHolder)
    await pause(TRIES_EVERY_MS)
  }
}
