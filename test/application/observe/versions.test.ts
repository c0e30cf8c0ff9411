// What is known of rows, with and without a disk for those that were not met of late: the same.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { record } from '../../../src/application/observe/instrument.ts'
import { RowFile } from '../../../src/application/observe/row-file.ts'
import { RowStates } from '../../../src/application/observe/row-states.ts'
import { Versions } from '../../../src/application/observe/versions.ts'
import { Random } from '../../../src/base/random.ts'
import { parseHistory } from '../../../src/formats/parse.ts'
import { onServer, reset, verdictOf } from '../server.ts'

const folder = mkdtempSync(join(tmpdir(), 'isobar-versions-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const DONE = 100 // ids below were done when recording began

interface Writing {
  readonly row: string
  readonly xmin: string
  readonly write: number
  readonly over: string | null
}

/** Random writers of rows, one after the other, while others look on that began earlier. */
class Story {
  private moment = 0
  private writes = 0
  private id = DONE
  private readonly current = new Map<string, string>() // row -> id of the version that is seen

  constructor(
    private readonly random: Random,
    private readonly told: readonly Versions[],
  ) {
    for (const versions of told) versions.begin(`${DONE}:${DONE}:`)
  }

  private row(): string {
    return `t(${this.random.below(400)})`
  }

  transact(): void {
    const { random, told, current } = this
    const oldest = this.moment
    const written: Writing[] = []
    for (let count = 1 + random.below(4); count > 0; count--) {
      const row = this.row()
      const before = current.get(row) ?? (random.chance(0.5) ? '50' : null)
      if (before !== null) this.agree((versions) => versions.writerOf(row, before))
      if (before === '50') for (const versions of told) versions.declare(row)
      const xmin = String(++this.id)
      const writing = { row, xmin, write: ++this.writes, over: before }
      for (const versions of told) versions.note(row, xmin, writing.write, ++this.moment)
      written.push(writing)
    }
    if (random.chance(0.2)) {
      for (const { row, write } of written) for (const each of told) each.forget(row, write)
      return
    }
    const now = ++this.moment
    for (const { row, xmin, over } of written) {
      if (over !== null) for (const versions of told) versions.replace(row, over, now, oldest)
      if (random.chance(0.1)) current.delete(row)
      else current.set(row, xmin)
    }
    this.moment++
    for (const versions of told) if (versions.isDue) versions.sweep(this.moment)
  }

  /** Whoever asks now: of what is there, of what nobody wrote, and of what was there at first. */
  ask(): void {
    const row = this.row()
    const xmin = this.current.get(row)
    if (xmin !== undefined) this.agree((versions) => versions.writerOf(row, xmin))
    this.agree((versions) => versions.writerOf(row, '99999'))
    this.agree((versions) => versions.sole(row, this.moment + 1))
    this.agree((versions) => versions.isDeclared(row))
  }

  private agree(ask: (versions: Versions) => unknown): void {
    const [first, ...others] = this.told.map(ask)
    for (const other of others) expect(other).toEqual(first)
  }
}

describe('Versions', () => {
  it.each([1, 2, 3, 4, 5])('says the same with rows on disk (seed %d)', (seed) => {
    let filed = 0
    const open = () => {
      filed++
      return new RowFile()
    }
    const [all, some] = [new Versions(new RowStates(1e9)), new Versions(new RowStates(20, open))]
    some.useDisk()
    const story = new Story(new Random(seed), [all, some])
    for (let round = 0; round < 3_000; round++) {
      story.transact()
      story.ask()
    }
    some.close()
    expect(filed).toBe(1)
  })

  it('keeps in memory what cannot be written', () => {
    const full = () => {
      throw new Error('the disk is full')
    }
    const versions = new Versions(new RowStates(10, full))
    versions.useDisk()
    versions.begin('100:100:')
    for (let i = 1; i < 200; i++) {
      versions.note(`t(${i})`, String(100 + i), i, i)
      if (versions.isDue) versions.sweep(i + 1)
    }
    for (let i = 1; i < 200; i++) expect(versions.writerOf(`t(${i})`, String(100 + i))).toBe(i)
  })

  it('knows nothing for certain once the disk cannot be read', () => {
    const file = new RowFile()
    const versions = new Versions(new RowStates(10, () => file))
    versions.useDisk()
    versions.begin('100:100:')
    for (let i = 1; i < 200; i++) {
      versions.note(`t(${i})`, String(100 + i), i, i)
      if (versions.isDue) versions.sweep(i + 1)
    }
    expect(versions.writerOf('t(1)', '101')).toBe(1)
    file.find = () => {
      throw new Error('the disk is gone')
    }
    expect(versions.writerOf('t(2)', '102')).toBeUndefined()
    expect(versions.writerOf('t(900)', '50')).toBeUndefined() // not: there at first
    expect(versions.sole('t(1)', 1_000)).toBeNull()
    versions.close()
  })
})

describe('RowFile', () => {
  it('finds each of many rows as it was put last, and no other', () => {
    const file = new RowFile()
    const row = (i: number) => ({
      initial: i % 3 === 0 ? String(i) : null,
      isReplaced: i % 2 === 0,
      isDeclared: i % 5 === 0,
      xmin: i % 7 === 0 ? null : String(4_294_967_295 - i),
      write: i % 7 === 0 ? 0 : i * 2 ** 22,
    })
    const count = 30_000
    for (let from = 0; from < count; from += 1_000) {
      const numbers = Array.from({ length: 1_000 }, (_, i) => from + i)
      file.put(numbers.map((i) => [`t(${i})`, row(i + 1)] as const))
      file.put(numbers.map((i) => [`t(${i})`, row(i)] as const))
    }
    for (let i = 0; i < count; i++) expect(file.find(`t(${i})`)).toEqual(row(i))
    expect(file.find(`t(${count})`)).toBeNull()
    file.close()
  })
})

describe('a recording that goes to a file', () => {
  const stage = onServer(2)

  it('tells versions of rows that it met long ago', { timeout: 120_000 }, async () => {
    await reset(
      stage.pool,
      'CREATE TABLE items (id int PRIMARY KEY, n int)',
      'INSERT INTO items SELECT i, 0 FROM generate_series(1, 3000) i',
    )
    const file = join(folder, 'h.jsonl')
    const recorded = record(stage.pool)
    recorded.save(file)
    const ask = (text: string) => stage.pool.query(text)
    await ask('SELECT * FROM items')
    await ask('DELETE FROM items WHERE id <= 10')
    const [first, last, step] = [10_001, 50_000, 1_000]
    for (let id = first; id < last; id += step) {
      const rows = Array.from({ length: step }, (_, i) => `(${id + i}, 1)`)
      await ask(`INSERT INTO items VALUES ${rows.join()}`)
    }
    await ask('UPDATE items SET n = 2 WHERE id > 49990')
    await ask('INSERT INTO items VALUES (10, 5)')
    await ask('SELECT * FROM items WHERE id <= 12000 OR id > 49000')
    expect(recorded.skipped).toEqual({})
    recorded.stop()
    const text = readFileSync(file, 'utf8')
    expect(text.split('"key":[3000]')).toHaveLength(3) // seen twice, there at first
    expect(text.split(/\{"id":3000,"n":0\}/)).toHaveLength(2) // and told once
    expect(await verdictOf(parseHistory(text, { format: 'native' }), 'ser')).toBe('satisfied')
  })
})
