import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { run } from '../../src/cli/main.ts'
import { ALL_SHAPES } from '../../src/cli/workload-options.ts'
import { readHistory } from '../../src/formats/open.ts'
import { generate as generateHistory, type Shape, writeHistory } from '../../src/index.ts'
import { LEVELS } from '../../src/levels/levels.ts'

let folder = ''
let output = ''
let errors = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'isobar-generate-'))
  output = ''
  errors = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text, ...rest) => {
    output += text
    for (const done of rest) if (typeof done === 'function') (done as () => void)()
    return true
  })
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    errors += text
    return true
  })
})

afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

const SMALL = [
  '--shape',
  'general',
  '--transactions',
  '60',
  '--sessions',
  '4',
  '--ops',
  '4',
  '--keys',
  '20',
]

function generate(name: string, ...flags: string[]): Promise<number> {
  return run(['generate', join(folder, name), ...SMALL, ...flags])
}

const bytesOf = (name: string) => readFileSync(join(folder, name), 'utf8')

describe('isobar generate', () => {
  test('gives the same bytes for the same seed, and others for another', async () => {
    for (const ending of ['txt', 'jsonl', 'notation']) {
      for (const seed of [7, 7, 8]) {
        const name = `${readdirSync(folder).length}.${ending}`
        expect(await generate(name, '--seed', String(seed))).toBe(0)
      }
      const [first, second, third] = readdirSync(folder)
        .filter((name) => name.endsWith(ending))
        .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
      expect(bytesOf(first!)).toBe(bytesOf(second!))
      expect(bytesOf(first!)).not.toBe(bytesOf(third!))
    }
  })

  test('makes a history that can be read and judged', async () => {
    const path = join(folder, 'h.jsonl')
    expect(await generate('h.jsonl', '--store', 'cc')).toBe(0)
    const { history } = await readHistory(path)
    expect(history.txnCount).toBe(60)
    expect(history.sessionCount).toBe(4)
    expect(await run(['check', path, '--level', 'rc,ra,cc'])).toBe(0)
  })

  test('says where faults struck, in the names that the file has', async () => {
    const path = join(folder, 'h.jsonl')
    expect(await generate('h.jsonl', '--inject', 'fractured-read:2', '--json')).toBe(0)
    const { faults, transactions } = JSON.parse(output)
    expect(transactions).toBe(60)
    expect(faults).toHaveLength(2)
    const { history } = await readHistory(path)
    const names = Array.from(history.txnStatus, (_, txn) => history.txnName(txn))
    for (const strike of faults) {
      expect(strike.fault).toBe('fractured-read')
      for (const name of strike.transactions) expect(names).toContain(name)
    }
    expect(await run(['check', path, '--level', 'rc'])).toBe(0)
    expect(await run(['check', path, '--level', 'ra'])).toBe(1)
  })

  test('keeps operations in the order in which they ran when interleaved', async () => {
    await generate('commit.txt')
    await generate('interleaved.txt', '--layout', 'interleaved')
    const txnsOf = (name: string) =>
      bytesOf(name)
        .trim()
        .split('\n')
        .map((line) => line.replace(/.*,(\d+)\)$/, '$1'))
    const switches = (txns: string[]) =>
      txns.filter((txn, i) => i > 0 && txn !== txns[i - 1]).length
    expect(switches(txnsOf('commit.txt'))).toBe(59)
    expect(switches(txnsOf('interleaved.txt'))).toBeGreaterThan(120)
  })

  test('replaces a file only with --force, and leaves nothing beside it', async () => {
    writeFileSync(join(folder, 'h.txt'), 'mine')
    expect(await generate('h.txt')).toBe(2)
    expect(errors).toContain('exists already')
    expect(bytesOf('h.txt')).toBe('mine')
    expect(await generate('h.txt', '--force')).toBe(0)
    expect(bytesOf('h.txt')).toMatch(/^[rw]\(/)
    expect(readdirSync(folder)).toEqual(['h.txt'])
  })

  const BAD: [string[], RegExp][] = [
    [
      ['--inject', 'lost-updates'],
      /unknown fault "lost-updates"\nhint: did you mean lost-update\? there are thin-air-read, /,
    ],
    [['--shape', 'wide'], /unknown shape "wide"\nhint: there are churn, mini/],
    [['--distribution', 'normal'], /unknown distribution "normal"\nhint:.*uniform, zipfian/],
    [['--layout', 'tidy'], /unknown layout "tidy"\nhint:.*commit, session/],
    [['--store', 'lin'], /no store at level "lin"\nhint:.*rc, ra, cc/],
    [['--to', 'csv'], /unknown format "csv"/],
    [['--sessions', 'many'], /--sessions takes a number/],
    [['--sessions', '0'], /sessions must be a whole number/],
    [['--seed', '1.5'], /--seed takes a whole number/],
    [['--reads', '2'], /between 0 and 1/],
    [['--mix', '1,2'], /bad mix 1,2/],
    [['--aborts', '-1'], /--aborts takes a number of at least 0/],
    [['--aborts', '2'], /aborts must be a share/],
    [
      ['--conflicts', 'retri'],
      /--conflicts is retry or abort, not "retri"\nhint: did you mean retry/,
    ],
    [['--to', 'plume', '--aborts', '0.5'], /Plume text cannot hold/],
    [['--to', 'plume', '--shape', 'append'], /Plume text cannot hold lists/],
    [['--to', 'plume', '--inject', 'stale-read'], /shows in start and finish times/],
    [['--inject', 'long-fork', '--sessions', '2'], /needs 4 sessions/],
  ]
  for (const [flags, message] of BAD) {
    test(`refuses ${flags.join(' ')}`, async () => {
      expect(await generate('h.out', ...flags)).toBe(2)
      expect(errors).toMatch(message)
      expect(readdirSync(folder)).toEqual([])
    })
  }

  test('makes histories of SQL transactions, each with the level it asked for', async () => {
    const path = join(folder, 'h.jsonl')
    const sql = ['generate', path, '--shape', 'twitter', '--sessions', '3', '--transactions', '30']
    expect(await run([...sql, '--store', 'si+rc', '--inject', 'phantom:2', '--json'])).toBe(0)
    const { faults, store } = JSON.parse(output)
    expect(store).toBe('si+rc')
    expect(faults.map(({ fault }: { fault: string }) => fault)).toEqual(['phantom', 'phantom'])
    const first = bytesOf('h.jsonl')
    const { history } = await readHistory(path)
    expect(history.txnCount).toBe(30)
    expect(history.sql!.tables.map(({ name }) => name)).toEqual(['users', 'follows', 'tweets'])
    const levels = new Set(Array.from(history.txnLevel!, (level) => LEVELS[level]!.id))
    expect(levels).toEqual(new Set(['si', 'rc']))
    const again = [...sql, '--force', '--store', 'si+rc', '--inject', 'phantom:2']
    expect(await run(again)).toBe(0)
    expect(bytesOf('h.jsonl')).toBe(first)
  })

  test.each(ALL_SHAPES)('makes of shape %s what the library makes', async (shape) => {
    const path = join(folder, 'h.jsonl')
    expect(await run(['generate', path, '--shape', shape, '--transactions', '50'])).toBe(0)
    const history = await generateHistory({ shape: shape as Shape, transactions: 50 })
    expect(bytesOf('h.jsonl')).toBe(new TextDecoder().decode(writeHistory(history)))
  })

  test('refuses what SQL transactions or their faults have no use for', async () => {
    const path = join(folder, 'h.jsonl')
    const refused = async (...flags: string[]) => {
      errors = ''
      expect(await run(['generate', path, ...flags])).toBe(2)
      return errors
    }
    expect(await refused('--shape', 'tpcc', '--ops', '3')).toContain('ops is not for tpcc')
    expect(await refused('--shape', 'tpcc', '--disjoint-writes')).toContain('not for tpcc')
    expect(await refused('--shape', 'tpcc', '--store', 'sser')).toContain(
      'cannot be at level "sser"',
    )
    expect(await refused('--shape', 'sql', '--inject', 'long-fork')).toContain('stale-index')
    expect(await refused('--shape', 'sql', '--inject', 'thin-air-read')).toContain(
      'thin-air-read is a fault of registers and lists, not of an SQL store',
    )
    expect(await refused('--shape', 'sql', '--store', 'rc', '--inject', 'phantom')).toContain(
      'phantom is no fault where all transactions ask for rc',
    )
    expect(await refused('--shape', 'sql', '--to', 'plume')).toContain('SQL statements')
    expect(await refused('--full')).toContain('--full is for SQL transactions')
    expect(await refused('--inject', 'phantom')).toContain('unknown fault "phantom"')
  })
})
