import { mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { profile } from '../../src/check/check.ts'
import { judge } from '../../src/check/judge.ts'
import { readHistory } from '../../src/formats/open.ts'
import { ABORTED, COMMITTED, INDETERMINATE } from '../../src/history/history.ts'
import type { SqlTable } from '../../src/history/sql-events.ts'
import { OpenTransaction, Recorder } from '../../src/record/recorder.ts'
import { deleteFrom, insert, select } from '../../src/sql/statement.ts'

let directory = ''
let path = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'isobar-test-'))
  path = join(directory, 'history.jsonl')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** One transaction of each fate, on two sessions. */
function recordThree(recorder: Recorder): void {
  const [a, b] = [new OpenTransaction(), new OpenTransaction()]
  recorder.begin(a, 0, 'ser')
  recorder.begin(b, 1, null)
  a.addRead(5, [null])
  a.addWrite(5, 1)
  recorder.pending(a)
  recorder.outcome(a, 'committed')
  b.addAppend(6, 2)
  recorder.aborted(b)
  recorder.begin(b, 1, 'ser')
  b.addReadList(6, [[]])
  recorder.pending(b)
  recorder.outcome(b, 'indeterminate')
}

describe('Recorder', () => {
  it('writes a history that comes back as it was', async () => {
    const recorder = new Recorder(path, { seed: 7 })
    recordThree(recorder)
    recorder.close()
    const { history } = await readHistory(path)
    expect([...history.txnStatus]).toEqual([COMMITTED, ABORTED, INDETERMINATE])
    expect(history.txnStartTime).not.toBeNull()
    expect(Number.isNaN(history.txnFinishTime![0])).toBe(false)
    expect(Number.isNaN(history.txnFinishTime![2])).toBe(true)
    expect(readFileSync(path, 'utf8').split('\n')[0]).toBe(
      '{"isobar":1,"initial":null,"unit":"us","seed":7}',
    )
  })

  it('has a pending transaction in the file before it returns', () => {
    const recorder = new Recorder(path)
    const txn = new OpenTransaction()
    recorder.begin(txn, 0, 'si')
    txn.addWrite(1, 1)
    expect(readFileSync(path, 'utf8')).not.toContain('pending')
    recorder.pending(txn)
    expect(readFileSync(path, 'utf8')).toContain('"ops":[["w",1,1]]')
    recorder.close()
  })

  it('leaves a history that can be judged wherever it is cut off', async () => {
    const recorder = new Recorder(path)
    recordThree(recorder)
    recorder.close()
    const whole = readFileSync(path)
    for (let length = whole.length; length > whole.indexOf('\n'); length--) {
      truncateSync(path, length)
      const { history } = await readHistory(path)
      for (const result of profile(history)) expect(result.verdict).toBe('satisfied')
    }
  })

  it('leaves statements that can be judged wherever it is cut off', async () => {
    const tables: SqlTable[] = [
      { name: 'seats', columns: [{ name: 'seat', type: 'text' }], keyColumns: [0] },
    ]
    const rows = [[['1a'], ["1'b"]]]
    const recorder = new Recorder(path, { seed: 7 }, { tables, rows })
    const txn = new OpenTransaction()
    recorder.begin(txn, 0, 'ser')
    txn.addStatement(tables[0]!, select('seats'), 0, { rows: rows[0]!, from: [null, null] })
    txn.addStatement(tables[0]!, insert('seats', ['2a']), 1, { rows: [], from: [] })
    recorder.pending(txn)
    recorder.outcome(txn, 'committed')
    recorder.begin(txn, 1, 'rc')
    txn.addStatement(tables[0]!, deleteFrom('seats', `seat > $1`, '2'), 2, {
      rows: [['2a']],
      from: [1],
    })
    txn.addAbort()
    recorder.aborted(txn)
    recorder.close()
    const { history } = await readHistory(path)
    expect([...history.txnStatus]).toEqual([COMMITTED, ABORTED])
    expect(history.sql!.eventCount).toBe(3)
    const whole = readFileSync(path)
    for (let length = whole.length; length > whole.indexOf('\n'); length--) {
      truncateSync(path, length)
      const { history: torn } = await readHistory(path)
      for (const result of await judge(torn, ['mixed'])) expect(result.verdict).toBe('satisfied')
    }
  })

  it('shares a file with others: no line is torn, no id is given twice', async () => {
    const first = new Recorder(path, { seed: 7 })
    const all = [...first.share(2).map((part) => Recorder.join(part)), first]
    for (let i = 0; i < 50; i++) {
      for (const [session, recorder] of all.entries()) {
        const txn = new OpenTransaction()
        recorder.begin(txn, session, 'ser')
        txn.addWrite(session, i)
        recorder.pending(txn)
        if (i % 7 !== 3) recorder.outcome(txn, 'committed')
      }
    }
    for (const recorder of all) recorder.close()
    const { history } = await readHistory(path) // refuses what stands there twice
    expect(history.txnCount).toBe(150)
    const lines = readFileSync(path, 'utf8').trim().split('\n').slice(1)
    const ids = lines.flatMap((line) => JSON.parse(line).pending ?? [])
    expect(ids.sort((a, b) => a - b)).toEqual(Array.from({ length: 150 }, (_, i) => i + 1))
    for (const result of profile(history)) expect(result.verdict).toBe('satisfied')
  })

  it('joins no file that is gone', () => {
    const first = new Recorder(path)
    const [part] = first.share(1)
    rmSync(path)
    expect(() => Recorder.join(part!)).toThrow(/ENOENT/)
    first.close()
  })

  it('never replaces a file', () => {
    new Recorder(path).close()
    expect(() => new Recorder(path)).toThrow(/exists already/)
  })
})
