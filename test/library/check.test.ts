import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import {
  CheckResult,
  certify,
  check,
  checkSync,
  describeShape,
  differ,
  generate,
  type HistoryInput,
  InputError,
  parseHistory,
  render,
  renderNotation,
  shrink,
  UsageError,
  verify,
  writeHistory,
} from '../../src/index.ts'
import { certifyResult } from '../../src/verdict/certify.ts'

const LOST_UPDATE = 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)'
const PLAIN = [
  {
    session: 'ann',
    id: 'A',
    ops: [
      { r: 'x', v: null },
      { w: 'x', v: 1 },
    ],
  },
  {
    session: 'bob',
    id: 'B',
    ops: [
      { r: 'x', v: null },
      { w: 'x', v: 2n ** 62n },
    ],
  },
]

const TABLES = { rooms: { columns: { id: 'integer' }, key: ['id'] } }
/** Registers may stand beside SQL statements, but not under the names of rows. */
const NAMED_LIKE_A_ROW = [
  { session: 1, ops: [{ insert: 'rooms', write: 'w1', rows: [{ id: 1 }] }] },
  { session: 2, ops: [{ w: 'rooms(1)', v: 1 }] },
]

/** Two see no row of the other's, and each inserts one: si allows it, ser does not. */
const SQL_SKEW = {
  tables: { rooms: { columns: { id: 'integer', taken: 'boolean' }, key: ['id'] } },
  transactions: [1, 2].map((id) => ({
    session: id,
    ops: [
      { select: 'rooms', where: 'taken', rows: [] },
      { insert: 'rooms', write: `w${id}`, rows: [{ id, taken: true }] },
    ],
  })),
}

const HISTORY = parseHistory(LOST_UPDATE)
const LOOP: unknown[] = [{ session: 1, ops: [], id: {} }]
LOOP[0] = { session: 1, ops: [], of: LOOP }
const CLAUSE = {
  tables: SQL_SKEW.tables,
  transactions: [{ session: 1, ops: [{ select: 'rooms', where: 'taken = = 1', rows: [] }] }],
}
const op = (given: object) => [{ session: 1, ops: [given as never] }]

/** Options that make no sense, and what is said of them. */
const OPTIONS: [() => unknown, RegExp][] = [
  [() => check(PLAIN, 'si', { budgetMs: '5' as never }), /options.budgetMs: a number above 0/],
  [() => check(PLAIN, 'si', { memoryBytes: true as never }), /options.memoryBytes: a number/],
  [() => check(PLAIN, 'si', { initial: 5n } as never), /unknown option initial/],
  [() => check(PLAIN, 'si', [] as never), /options: an object was expected, not a list/],
  [() => check(LOST_UPDATE, 'si', { format: 5 as never }), /options.format: a word/],
  [() => check(LOST_UPDATE, 'si', { format: null as never }), /options.format: a word/],
  [() => parseHistory(LOST_UPDATE, null as never), /options: an object was expected, not null/],
  [() => parseHistory(LOST_UPDATE, { fromat: 'native' } as never), /unknown option fromat/],
  [() => verify(PLAIN, '{}', null as never), /options: an object was expected, not null/],
  [() => verify(PLAIN, '{}', { budgetMs: 5 } as never), /unknown option budgetMs/],
  [() => differ('si', 'ser', null as never), /options: an object was expected, not null/],
  [() => differ('si', 'ser', { maxops: 3 } as never), /unknown option maxops/],
  [() => differ('si', 'ser', { budgetMs: 'x' as never }), /options.budgetMs: a number above 0/],
  [async () => render.text(await check(PLAIN), null as never), /options: an object was expected/],
  [async () => render.html(await check(PLAIN), { title: 5 as never }), /options.title: a word/],
  [() => generate({ inject: null as never }), /options.inject: an object such as/],
  [() => generate({ inject: 5 as never }), /options.inject: an object such as/],
  [
    () => generate({ inject: { 'lost-update': 1e9 } }),
    /lost-update: a whole number from 1 to 1000000/,
  ],
  [() => generate({ shape: 'sql', inject: { phantom: 1e9 } }), /phantom: a whole number from 1 to/],
  [() => generate({ store: 'ser+rc' }), /options.store: unknown level "ser\+rc"/],
  [() => differ('si', 'serial' as never), /b: unknown level "serial"/],
  [() => generate({ distribution: 7 as never }), /options.distribution: a word/],
  [() => generate({ shape: 'general', mix: 5 as never }), /options.mix: a list of three shares/],
  [() => generate({ transactoins: 5 } as never), /unknown option transactoins/],
  [() => generate({ aborts: 2 }), /options.aborts: a share between 0 and 1/],
  [() => generate({ layout: 'x' as never }), /unknown layout "x"/],
  [() => generate({ full: true }), /options.full: is for SQL transactions/],
  [() => generate({ shape: 'tpcc', ops: 3 }), /ops is not for tpcc/],
  [
    () => generate({ shape: 'tpcc', store: 'ser+serial' as never }),
    /store: unknown level "serial"/,
  ],
]

async function failure(run: () => unknown): Promise<Error> {
  try {
    await run()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was thrown')
}

describe('check', () => {
  it('judges text, bytes, compressed bytes, parsed histories and plain objects alike', async () => {
    const bytes = new TextEncoder().encode(LOST_UPDATE)
    const inputs: HistoryInput[] = [LOST_UPDATE, bytes, gzipSync(bytes), parseHistory(bytes), PLAIN]
    for (const input of inputs) {
      const result = await check(input, ['pc', 'si'])
      expect(result.levels.map(({ verdict }) => verdict)).toEqual(['satisfied', 'violated'])
      expect(result.verdict).toBe('violated')
      expect(result.levels[1]!.anomalies[0]!.name).toBe('LostUpdate')
    }
  })

  it('names transactions, sessions and keys, beside their indices', async () => {
    const result = await check(PLAIN, 'si')
    const { levels, results } = result
    expect(levels[0]!.anomalies[0]!.transactions).toEqual(['A', 'B'])
    expect(levels[0]!.anomalies[0]!.core).toEqual(['A', 'B'])
    const { transactions } = result.toJSON()
    expect(transactions.map(({ id, session }) => [id, session])).toEqual([
      ['A', 'ann'],
      ['B', 'bob'],
    ])
    expect(levels[0]!.anomalies[0]!.edges.every(({ key }) => key === 'x' || key === null)).toBe(
      true,
    )
    expect(results[0]!.anomalies[0]!.txns.toSorted()).toEqual([0, 1])
  })

  it('judges every level that applies if none is named', async () => {
    const result = await check(PLAIN)
    expect([result.strongest, result.weakestViolated]).toEqual([['pc'], ['psi']])
    expect(JSON.parse(JSON.stringify(await check(LOST_UPDATE)))).toMatchObject({
      strongest: ['pc'],
    })
  })

  it('judges sets as plain objects', async () => {
    const set = (...v: number[]) => [
      { session: 1, ops: [{ add: 's', v: 1 }] },
      { session: 1, ops: [{ add: 's', v: 2 }] },
      { session: 2, ops: [{ set: 's', v }] },
    ]
    expect((await check(set(1, 2), 'ser')).verdict).toBe('satisfied')
    expect((await check(set(2), 'ser')).verdict).toBe('violated')
  })

  it('judges lists, compare-and-set and SQL statements as plain objects', async () => {
    const lists = [
      { session: 1, ops: [{ append: 'l', v: 1 }] },
      { session: 2, ops: [{ r: 'l', v: [1] }] },
    ]
    expect((await check(lists, 'ser')).verdict).toBe('satisfied')
    const swaps = [
      { session: 1, start: 0, finish: 1, ops: [{ insert: 'x', v: 1 }] },
      { session: 1, start: 2, finish: 3, ops: [{ cas: 'x', from: 1, to: 2 }] },
      { session: 2, start: 4, finish: 5, ops: [{ cas: 'x', from: 1, to: 3, found: 2 }] },
    ]
    expect((await check(swaps, 'lin')).verdict).toBe('satisfied')
    const tables = { rooms: { columns: { id: 'integer', free: 'boolean' }, key: ['id'] } }
    const select = { select: 'rooms', where: 'free', rows: [] }
    const transactions = [
      {
        session: 1,
        ops: [select, { insert: 'rooms', write: 'w1', rows: [{ id: 1, free: true }] }],
      },
      {
        session: 2,
        ops: [select, { insert: 'rooms', write: 'w2', rows: [{ id: 2, free: true }] }],
      },
    ]
    const result = await check({ tables, transactions }, ['si', 'ser'])
    expect(result.levels.map(({ verdict }) => verdict)).toEqual(['satisfied', 'violated'])
  })

  it('judges registers beside SQL statements', async () => {
    const [statement] = NAMED_LIKE_A_ROW
    const transactions = [statement!, { session: 2, ops: [{ w: 'x', v: 1 }] }]
    expect((await check({ tables: TABLES, transactions }, 'ser')).verdict).toBe('satisfied')
  })

  it('says which argument is wrong, and the way out', async () => {
    const cases: (readonly [() => unknown, new (...args: never[]) => Error, RegExp])[] = [
      [() => check('', 'si'), InputError, /no transactions/],
      [() => check([]), InputError, /no transactions/],
      [() => check(7 as never), UsageError, /the input is no history/],
      [() => check(null as never), UsageError, /the input is no history/],
      [() => check(PLAIN, 'serial' as never), UsageError, /levels: unknown level "serial"/],
      [() => check(PLAIN, []), UsageError, /levels: a level or a list/],
      [() => check(PLAIN, 'si', { budgetMs: -1 }), UsageError, /options.budgetMs/],
      [() => check(PLAIN, 'si', 5 as never), UsageError, /options: an object/],
      [() => check([{ session: 1 } as never]), UsageError, /transactions\[0\].ops is no list/],
      [() => check([{ session: 1, ops: [{ r: 'x' } as never] }]), UsageError, /ops\[0\] has no v/],
      [() => check([{ session: 1, ops: [{ w: 'x', v: 1.5 }] }]), InputError, /transactions\[0\]: /],
      [() => check([...PLAIN, { session: 1, ops: [{ w: 'x', v: 1 }] }]), InputError, /twice/],
      [() => check(new Uint8Array([0x1f, 0x8b, 1, 2])), InputError, /damaged/],
      [() => checkSync(LOST_UPDATE as never), UsageError, /takes a parsed history/],
      [() => checkSync(parseHistory(LOST_UPDATE), 'mixed'), UsageError, /judged by check\(\)/],
      [() => writeHistory(parseHistory(LOST_UPDATE), 'nothing' as never), UsageError, /format/],
      [() => writeHistory(7 as never), UsageError, /history: a parsed history/],
      [() => check(PLAIN, 'si', { bugdetMs: 1 } as never), UsageError, /unknown option bugdetMs/],
      [() => check(PLAIN, 'si', { limit: -1 }), UsageError, /options.limit: a whole number/],
      [
        () => check(PLAIN, 'si', { algorithm: 'x' as never }),
        UsageError,
        /auto or solve or search/,
      ],
      [() => check(PLAIN, 'si', { all: 1 as never }), UsageError, /options.all: true or false/],
      [() => check(LOST_UPDATE, 'si', { format: 'x' as never }), InputError, /unknown format "x"/],
      [() => check({ tables: TABLES, transactions: NAMED_LIKE_A_ROW }), InputError, /rooms\(1\)/],
      [() => checkSync(parseHistory('{"isobar":1}\n')), InputError, /no transactions/],
      [() => parseHistory(7 as never), UsageError, /input: text, bytes/],
      [() => shrink(PLAIN, undefined as never), UsageError, /level: a level was expected/],
      [() => shrink(PLAIN, 'serial' as never), UsageError, /^level: unknown level "serial"/],
      [() => shrink('', 'si'), InputError, /no transactions/],
      [() => shrink(PLAIN, 'si', { onStep: 5 as never }), UsageError, /options.onStep: a function/],
      [() => generate(7 as never), UsageError, /options: an object/],
      [() => generate({ inject: { 'lost-update': -1 } }), UsageError, /options.inject.lost-update/],
      [() => generate({ seed: 'a' as never }), UsageError, /options.seed: a whole number/],
      [() => render.text(7 as never), UsageError, /result: what check\(\) returned/],
      [() => render.svg({} as never), UsageError, /result: what check\(\) returned/],
      [() => certify(null as never), UsageError, /result: what check\(\) returned/],
      [() => certify({ results: [1] } as never), UsageError, /result: what check\(\) returned/],
      [() => render.html({ results: [] } as never), UsageError, /result: what check\(\)/],
      ...OPTIONS.map(([run, message]) => [run, UsageError, message] as const),
      ...[undefined, () => 1, Symbol('v')].map((nothing) => {
        const ops = [['r', 'x', nothing]] as [string, ...unknown[]][]
        return [() => check([{ session: 1, ops }]), InputError, /expected a value/] as const
      }),
      [() => check(PLAIN, 'si', { format: 'native' }), UsageError, /only text and bytes/],
      [() => check(HISTORY, 'si', { format: 'native' }), UsageError, /only text and bytes/],
      [() => check(LOOP as never), UsageError, /transactions\[0\] cannot be written down/],
      [
        () => check(op({ w: 'x', v: 1, verison: 3 })),
        UsageError,
        /ops\[0\]: unknown field verison/,
      ],
      [() => check(op({ append: 'x', v: 1, found: 3 })), UsageError, /unknown field found/],
      [() => check(op({ q: 'x' })), UsageError, /transactions\[0\].ops\[0\] is no operation/],
      [() => check(gzipSync(gzipSync(LOST_UPDATE))), InputError, /compressed twice/],
      [() => parseHistory(gzipSync(LOST_UPDATE)), UsageError, /input: the bytes are compressed/],
      [() => parseHistory('?'), InputError, /no known format/],
      [() => check(CLAUSE), InputError, /transactions\[0\]: .* the predicate taken = = 1/],
      [() => describeShape(7 as never), UsageError, /history: a parsed history was expected/],
      [() => renderNotation(null as never), UsageError, /history: a parsed history was expected/],
      [() => renderNotation(HISTORY, [99]), UsageError, /txns: there is no transaction 99/],
      [() => renderNotation(HISTORY, [0.5]), UsageError, /txns: there is no transaction 0.5/],
      [() => renderNotation(HISTORY, 5 as never), UsageError, /txns: a list of transactions/],
      [() => new (CheckResult as never as new () => unknown)(), UsageError, /not made by hand/],
      [() => writeHistory({ txnOpStart: 1 } as never), UsageError, /history: a parsed history/],
      [() => writeHistory(HISTORY, 5 as never), UsageError, /unknown format "5"/],
    ]
    for (const [run, kind, message] of cases) {
      const error = await failure(run)
      expect(error).toBeInstanceOf(kind)
      expect(error.message).toMatch(message)
    }
  })

  it('shows the way out of a slip, and of a clause that cannot be read', async () => {
    const slips: [() => unknown, string][] = [
      [() => generate({ transactoins: 5 } as never), 'did you mean transactions?'],
      [() => check(op({ w: 'x', v: 1, verison: 3 })), 'did you mean version?'],
      [() => check(CLAUSE), 'docs/sql-predicates.md'],
      [() => parseHistory('?'), 'the option format'],
    ]
    for (const [run, hint] of slips)
      expect(await failure(run)).toHaveProperty('hint', expect.stringContaining(hint))
  })

  it('takes what is undefined for not told, and a level that is named twice for one', async () => {
    const options = { budgetMs: undefined, format: undefined } as never
    const { levels } = await check(PLAIN, ['si', 'si'], options)
    expect(levels.map(({ level }) => level)).toEqual(['si'])
    const some = { sessions: undefined, transactions: 5 } as never
    expect((await generate(some)).txnCount).toBe((await generate({ transactions: 5 })).txnCount)
  })
})

describe('the rest of the library', () => {
  it('generates, shrinks, writes and verifies', async () => {
    const options = { shape: 'mini' as const, transactions: 200, inject: { 'lost-update': 1 } }
    const history = await generate(options)
    expect(checkSync(history, 'si').verdict).toBe('violated')
    const { history: least, result } = await shrink(history, 'si')
    expect(least.txnCount).toBeLessThan(6)
    expect(await certify(result)).toEqual([])
    expect(result.verdict).toBe('violated')
    const again = parseHistory(writeHistory(least, 'native'))
    expect(checkSync(again, 'si').verdict).toBe('violated')
  })

  it('generates SQL transactions, by a store with options of its own', async () => {
    const options = { shape: 'tpcc', transactions: 40, sessions: 4, seed: 3 } as const
    const [sound, weak] = [await generate(options), await generate({ ...options, store: 'ser+rc' })]
    expect((await check(sound, 'ser')).verdict).toBe('satisfied')
    expect(describeShape(weak).shape).toBe('sql')
    expect(renderNotation(weak)).not.toBe(renderNotation(sound))
    const aborted = await generate({ ...options, conflicts: 'abort', aborts: 0.5 })
    const counts = (await check(aborted, 'rc')).toJSON().history
    expect(counts.aborted).toBeGreaterThan(5)
  })

  it('verifies verdict files, as text and as data', async () => {
    const result = await check(LOST_UPDATE, ['ra', 'si'])
    const text = await render.json(result)
    expect(await verify(LOST_UPDATE, text)).toEqual([])
    expect(await verify(LOST_UPDATE, result.toJSON())).toEqual([])
    const forged = { ...result.toJSON(), strongest: ['ser' as const] }
    expect(await verify(LOST_UPDATE, forged)).toEqual([
      'ra: strongest[0] says what is not so',
      'si: strongest[0] says what is not so',
    ])
    await expect(verify('s1: w(x,1)', text)).rejects.toThrow('it is for another history')
    await expect(verify(LOST_UPDATE, `${text}\n${text}`)).rejects.toThrow('several verdicts')
  })

  it('certifies verdicts on SQL statements as any others, and changes nothing of a result', async () => {
    const results = [await check(SQL_SKEW, ['si', 'ser']), await check(LOST_UPDATE, ['ra', 'si'])]
    for (const result of results) {
      const before = JSON.stringify(result)
      expect(await certify(result)).toEqual([])
      expect(JSON.stringify(result)).toBe(before)
      expect(result.levels.map(({ verdict }) => verdict)).toEqual(['satisfied', 'violated'])
      // A wrong one is denied, and not marked as denied in what was given either.
      const [held, broken] = result.results
      const forged = { ...broken!, verdict: held!.verdict, proof: held!.proof, anomalies: [] }
      const certificate = { ...forged.certificate! }
      expect(await certifyResult(result.history, forged)).not.toEqual([])
      expect(forged.certificate).toEqual(certificate)
    }
  })

  it('shrinks SQL histories', async () => {
    const columns = { id: 'integer', n: 'integer' }
    const tables = {
      t: {
        columns,
        key: ['id'],
        rows: [
          { id: 1, n: 0 },
          { id: 2, n: 0 },
        ],
      },
    }
    const add = (id: number, n: number) => ({
      session: n,
      ops: [
        { select: 't', rows: [1, 2].map((key) => ({ key, from: null })) },
        {
          update: 't',
          where: `id = ${id}`,
          write: `w${n}`,
          rows: [{ key: id, from: null, row: { id, n } }],
        },
      ],
    })
    const { history, result } = await shrink({ tables, transactions: [add(1, 1), add(1, 2)] }, 'si')
    expect(result.levels[0]!.anomalies[0]!.name).toBe('LostUpdate')
    expect([history.txnCount, history.opCount, history.keyCount]).toEqual([2, 4, 1])
    expect(await certify(result)).toEqual([])
  })

  it('renders one result in every way', async () => {
    const result = await check(LOST_UPDATE, 'si')
    for (const name of ['text', 'html', 'json', 'svg', 'dot', 'markdown', 'junit'] as const) {
      expect(await render[name](result, { title: 'mine' })).toContain('LostUpdate')
    }
  })
})
