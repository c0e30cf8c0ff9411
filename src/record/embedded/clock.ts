// The clock of the embedded server, set by libfaketime: a library that is loaded before all others
// (on Linux), and answers who asks for the time by what stands in a file. Timers go by another
// clock, which is left alone. Main class: ServerClock.

import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseError } from '../../base/errors.ts'

export class ServerClock {
  private readonly path: string

  private constructor(
    home: string,
    private readonly library: string,
  ) {
    this.path = join(home, 'clock')
    this.set(0)
  }

  /** @param home a directory that the server can read from. Throws DatabaseError. */
  static make(home: string): ServerClock {
    const library = findLibrary()
    if (library !== null) return new ServerClock(home, library)
    throw new DatabaseError(
      'the clock of the embedded server cannot be set: there is no libfaketime here',
      'on Debian and Ubuntu, apt-get install libfaketime adds it',
    )
  }

  /** Whether it can be made. */
  static isThere(): boolean {
    return findLibrary() !== null
  }

  /** What the server is started with. */
  get environment(): Record<string, string> {
    return {
      LD_PRELOAD: this.library,
      FAKETIME_TIMESTAMP_FILE: this.path,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
  }

  /** So much ahead of the machine's clock, or behind it. */
  set(aheadMs: number): void {
    const seconds = aheadMs / 1000
    writeFileSync(`${this.path}.new`, `${seconds < 0 ? '' : '+'}${seconds}\n`, { mode: 0o644 })
    renameSync(`${this.path}.new`, this.path) // nobody reads half of it
  }
}

/** Where packages put it; null if it is not there. */
function findLibrary(): string | null {
  if (process.platform !== 'linux') return null
  const places = ['/usr/lib', '/usr/lib64', '/usr/local/lib'].filter((each) => existsSync(each))
  const folders = places.flatMap((place) => [
    place,
    ...readdirSync(place)
      .filter((name) => name.endsWith('-linux-gnu'))
      .map((name) => join(place, name)),
  ])
  const files = folders.map((folder) => join(folder, 'faketime', 'libfaketime.so.1'))
  return files.find((file) => existsSync(file)) ?? null
}
