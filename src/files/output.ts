// Everything that a command writes goes through here. It names all its outputs, and what it reads,
// before the work begins; each name that would destroy something is refused then: an input, another
// output, a file that holds something (unless it may be replaced). A file appears under its name
// only when it is complete. Devices and pipes are written through. Main class: Outputs.

import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { UsageError } from '../base/errors.ts'
import { cut, inert } from '../base/inert.ts'
import { followLinks, identityOf, identityOfOpen, statOf } from './identity.ts'
import { makeDirectories } from './make-directories.ts'
import {
  appendTo,
  openWhole,
  type Sink,
  unwritable,
  type Whole,
  writeThrough,
  writeTree,
  writeWhole,
} from './write.ts'

export interface ClaimOptions {
  /** Add to what a file holds, instead of replacing it. */
  readonly append?: boolean
  /** Never replace anything, not even by force. */
  readonly keep?: boolean
  /** Make the directories that lead there. */
  readonly parents?: boolean
}

const STANDARD = 'standard output'

export class Outputs {
  private readonly taken = new Map<string, string>() // identity -> what it is

  /**
   * @param force whether files that hold something may be replaced
   * @param remedy how to say that they may
   */
  constructor(
    private readonly force = false,
    private readonly remedy = '--force',
  ) {}

  /** A file that the command reads; `-` is standard input. */
  read(path: string): void {
    const identity = path === '-' ? identityOfOpen(0) : identityIfAny(path)
    if (identity === null) return
    if (identity === identityOfOpen(1)) {
      throw new UsageError(`${show(path)} is read, and standard output would go into it`)
    }
    this.taken.set(identity, 'an input of this command')
  }

  /** Whether standard output belongs to some output. */
  get ownsStandardOutput(): boolean {
    return this.taken.has(STANDARD)
  }

  /**
   * A file to be written; `-` is standard output. Throws UsageError.
   * @param what the option or argument that names it
   */
  claim(path: string, what: string, options: ClaimOptions = {}): Output {
    if (path === '-') {
      this.take(STANDARD, path, what)
      return new Output(path, 'standard', false, options)
    }
    expectName(path, what)
    const stat = tell(path, () => statOf(path))
    if (stat?.isDirectory())
      throw new UsageError(`${show(path)} is a directory`, `${what} is a file`)
    if (stat?.isCharacterDevice() || stat?.isBlockDevice()) {
      return new Output(path, 'through', false, options)
    }
    this.takePlace(path, what, options)
    if (stat && !stat.isFile()) return new Output(path, 'through', false, options)
    const isFull = stat !== null && stat.size > 0n
    if (isFull && options.append !== true) this.expectReplaceable(path, options)
    return new Output(path, options.append ? 'append' : 'whole', isFull, options)
  }

  /**
   * A directory to be written.
   * @param endings of the names of its files: one that holds anything else is not replaced
   */
  claimDirectory(path: string, what: string, endings: RegExp): Output {
    if (path === '-') throw new UsageError('this format is a directory', 'name a directory')
    expectName(path, what)
    const stat = tell(path, () => statOf(path))
    if (stat && !stat.isDirectory()) {
      throw new UsageError(`${show(path)} is a file`, 'histories of this format are directories')
    }
    this.takePlace(path, what, {})
    const names = stat ? tell(path, () => readdirSync(path)) : []
    if (names.length > 0) {
      this.expectReplaceable(path, {})
      const other = names.find((name) => !endings.test(name))
      if (other !== undefined) {
        throw new UsageError(`${show(path)} is not replaced: it also holds ${show(other)}`)
      }
      for (const name of names) this.expectFree(identityOf(`${path}/${name}`), `${path}/${name}`)
    }
    return new Output(path, 'whole', names.length > 0, {})
  }

  private takePlace(path: string, what: string, { parents }: ClaimOptions): void {
    let parent = dirname(followLinks(path))
    while (parents && dirname(parent) !== parent && !tell(path, () => statOf(parent))) {
      parent = dirname(parent)
    }
    if (!tell(path, () => statOf(parent))?.isDirectory()) {
      throw new UsageError(`cannot write ${show(path)}: there is no such directory`)
    }
    const identity = tell(path, () => identityOf(path))
    if (identity === identityOfOpen(1) || identity === identityOfOpen(2)) {
      throw new UsageError(`${show(path)} is where standard output goes`, 'name it -')
    }
    this.take(identity, path, what)
  }

  private take(identity: string, path: string, what: string): void {
    this.expectFree(identity, path)
    this.taken.set(identity, `what ${what} writes`)
  }

  private expectFree(identity: string, path: string): void {
    const other = this.taken.get(identity)
    if (other === undefined) return
    throw new UsageError(`${show(path)} is ${other}: it is not written over`, 'name another file')
  }

  private expectReplaceable(path: string, { keep }: ClaimOptions): void {
    if (keep) throw new UsageError(`${show(path)} exists already, and is never replaced`)
    if (!this.force) {
      throw new UsageError(`${show(path)} exists already`, `${this.remedy} replaces it`)
    }
  }
}

/** One file, or directory, that a command has said it will write. */
export class Output {
  constructor(
    readonly path: string,
    private readonly way: 'standard' | 'through' | 'append' | 'whole',
    private readonly replaces: boolean,
    private readonly options: ClaimOptions,
  ) {}

  get isStandard(): boolean {
    return this.way === 'standard'
  }

  /** Writes what `fill` gives; returns how many bytes that was. Throws InputError. */
  write(fill: (sink: Sink) => void): number {
    if (this.options.parents) {
      tell(this.path, () => makeDirectories(dirname(this.path)))
    }
    if (this.way === 'standard') return writeThrough(this.path, fill, 1)
    if (this.way === 'through') return writeThrough(this.path, fill)
    if (this.way === 'append') return appendTo(this.path, fill)
    return writeWhole(this.path, this.replaces, fill)
  }

  /** A file that is filled little by little, and gets its name in the end. Throws InputError. */
  open(): Whole {
    if (this.way !== 'whole') throw new UsageError(`${show(this.path)} is no file`, 'name one')
    return openWhole(this.path, this.replaces)
  }

  writeText(text: string): number {
    return this.writePieces([text])
  }

  /** Writes a text that may be longer than any string. */
  writePieces(pieces: Iterable<string>): number {
    const encoder = new TextEncoder()
    return this.write((sink) => {
      for (const piece of pieces) sink(encoder.encode(piece))
    })
  }

  /** Writes a directory, a file at a time. */
  writeFiles(fill: (open: (name: string) => Sink) => void): number {
    return writeTree(this.path, this.replaces, fill)
  }
}

/** Null where it cannot be told: then the file cannot be read either, and reading says why. */
function identityIfAny(path: string): string | null {
  try {
    return identityOf(path)
  } catch {
    return null
  }
}

/** What the operating system says against it is the world's fault. */
function tell<T>(path: string, ask: () => T): T {
  try {
    return ask()
  } catch (error) {
    throw unwritable(error, path)
  }
}

function expectName(path: string, what: string): void {
  if (path.trim() === '') throw new UsageError(`${what} names no file: it is empty`)
  if (path.includes('\0')) throw new UsageError(`${what} names no file: it holds a zero byte`)
}

function show(path: string): string {
  return path === '-' ? STANDARD : inert(cut(path, 200))
}
