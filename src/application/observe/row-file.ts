// What is known of rows that nothing happens to at present, on disk: a hash table of pages in a
// scratch file. The first bits of a row's fingerprint say on which page it is; when a page is full
// there are twice as many, each half of one before. A fingerprint is 96 bits of SHA-256: among a
// thousand million rows two have the same with a chance of one in 10^11. A look-up reads one page,
// which the system has in memory most of the time. Main class: RowFile.

import { createHash } from 'node:crypto'
import { Scratch, type ScratchFile } from '../../files/scratch.ts'

export interface FiledRow {
  /** The id that its initial version has; null: none is known. */
  readonly initial: string | null
  readonly isReplaced: boolean
  readonly isDeclared: boolean
  /** The one version that recorded statements made and that others see. */
  readonly xmin: string | null
  readonly write: number
}

const PAGE_BYTES = 4096
const PAGE_WORDS = PAGE_BYTES / 4
// fingerprint (3 words), flags, id of the initial version, id of the version, its write (2 words)
const RECORD_WORDS = 8
const FIRST_BITS = 6
const WORD = 2 ** 32

const USED = 1
const INITIAL = 2
const REPLACED = 4
const DECLARED = 8
const VERSION = 16

export class RowFile {
  private file: ScratchFile
  private bits = FIRST_BITS // of a fingerprint that say the page
  private readonly page = new Uint32Array(PAGE_WORDS)
  private readonly bytes = new Uint8Array(this.page.buffer)

  /** Throws InputError, here and wherever the disk is used. */
  constructor(private readonly scratch = new Scratch(null)) {
    this.file = scratch.file()
    for (let page = 0; page < 1 << FIRST_BITS; page++) this.file.append(this.bytes)
  }

  find(name: string): FiledRow | null {
    const [first, second, third] = fingerprintOf(name)
    this.load(this.pageOf(first))
    const at = this.seek(first, second, third)
    return at >= 0 && this.page[at + 3] !== 0 ? this.read(at) : null
  }

  /** Writes down several, each page once. */
  put(rows: readonly (readonly [string, FiledRow])[]): void {
    const marked = rows.map(([name, row]) => ({ mark: fingerprintOf(name), row }))
    marked.sort((a, b) => a.mark[0] - b.mark[0])
    let loaded = -1
    for (const { mark, row } of marked) {
      let at = -1
      while (at < 0) {
        const page = this.pageOf(mark[0])
        if (page !== loaded) {
          if (loaded >= 0) this.store(loaded)
          this.load(page)
          loaded = page
        }
        at = this.seek(...mark)
        if (at >= 0) break
        this.store(loaded)
        this.grow()
        loaded = -1
      }
      this.page.set(mark, at)
      this.write(at + 3, row)
    }
    if (loaded >= 0) this.store(loaded)
  }

  close(): void {
    this.scratch.close()
  }

  private pageOf(first: number): number {
    return first >>> (32 - this.bits)
  }

  private load(page: number): void {
    this.file.read(page * PAGE_BYTES, this.bytes)
  }

  private store(page: number): void {
    this.file.rewrite(page * PAGE_BYTES, this.bytes)
  }

  /** Where on the page the row is, or the first free place; -1: it is not there, and none is free. */
  private seek(first: number, second: number, third: number): number {
    const { page } = this
    for (let at = 0; at < PAGE_WORDS; at += RECORD_WORDS) {
      if (page[at + 3] === 0) return at
      if (page[at] === first && page[at + 1] === second && page[at + 2] === third) return at
    }
    return -1
  }

  private read(at: number): FiledRow {
    const { page } = this
    const flags = page[at + 3]!
    return {
      initial: flags & INITIAL ? String(page[at + 4]) : null,
      isReplaced: (flags & REPLACED) !== 0,
      isDeclared: (flags & DECLARED) !== 0,
      xmin: flags & VERSION ? String(page[at + 5]) : null,
      write: page[at + 6]! + page[at + 7]! * WORD,
    }
  }

  private write(at: number, { initial, isReplaced, isDeclared, xmin, write }: FiledRow): void {
    const { page } = this
    page[at] =
      USED |
      (initial === null ? 0 : INITIAL) |
      (isReplaced ? REPLACED : 0) |
      (isDeclared ? DECLARED : 0) |
      (xmin === null ? 0 : VERSION)
    page[at + 1] = Number(initial ?? 0)
    page[at + 2] = Number(xmin ?? 0)
    page[at + 3] = write % WORD
    page[at + 4] = Math.floor(write / WORD)
  }

  /** Twice as many pages: each becomes two, which stand where it stood. */
  private grow(): void {
    const larger = this.scratch.file()
    const halves = [new Uint32Array(PAGE_WORDS), new Uint32Array(PAGE_WORDS)]
    try {
      for (let page = 0; page < 1 << this.bits; page++) {
        this.load(page)
        const ends = [0, 0]
        for (const half of halves) half.fill(0)
        for (let at = 0; at < PAGE_WORDS && this.page[at + 3] !== 0; at += RECORD_WORDS) {
          const half = (this.page[at]! >>> (31 - this.bits)) & 1
          halves[half]!.set(this.page.subarray(at, at + RECORD_WORDS), ends[half]!)
          ends[half]! += RECORD_WORDS
        }
        for (const half of halves) larger.append(new Uint8Array(half.buffer))
      }
    } catch (error) {
      larger.close()
      throw error
    }
    this.file.close()
    this.file = larger
    this.bits++
  }
}

function fingerprintOf(name: string): [number, number, number] {
  const digest = createHash('sha256').update(name).digest()
  return [digest.readUInt32LE(0), digest.readUInt32LE(4), digest.readUInt32LE(8)]
}
