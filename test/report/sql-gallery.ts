// Small SQL histories for every kind of anomaly that only they show, and for those they share with
// registers, as the reports are shown to draw each of them.

import { judge } from '../../src/check/judge.ts'
import { parseHistory } from '../../src/formats/parse.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import { describeVerdict } from '../../src/report/describe-verdict.ts'
import type { VerdictJson } from '../../src/verdict/verdict-file.ts'

export interface SqlExhibit {
  readonly name: string
  readonly level: LevelId
  readonly text: string
}

const ORDERS =
  '{"isobar":1,"tables":{"orders":{"columns":{"id":"integer","status":"text","total":"integer"},"key":["id"],"rows":[{"id":1,"status":"open","total":5},{"id":2,"status":"done","total":7}]}}}'

/** A line of a transaction; of `txns` each is [session, id, level, ops]. */
function history(header: string, ...txns: [number, string, string, string][]): string {
  const lines = txns.map(
    ([session, id, level, ops]) =>
      `{"session":${session},"id":"${id}","level":"${level}","ops":[${ops}]}`,
  )
  return [header, ...lines].join('\n')
}

const OPEN = '"where":"status = $1","params":["open"]'

export const PHANTOM = history(
  ORDERS,
  [
    1,
    'T1',
    'ser',
    `{"select":"orders",${OPEN},"rows":[{"key":1,"from":null}]},{"select":"orders",${OPEN},"rows":[{"key":1,"from":null},{"key":17,"from":"w1"}]}`,
  ],
  [2, 'T2', 'rc', '{"insert":"orders","write":"w1","rows":[{"id":17,"status":"open","total":3}]}'],
)

const ON_CALL =
  '{"isobar":1,"tables":{"doctors":{"columns":{"name":"text","on_call":"boolean","shift":"integer"},"key":["name"],"rows":[{"name":"Ada","on_call":true,"shift":7},{"name":"Bob","on_call":true,"shift":7}]}}}'

/** Each sees that two are on call, and takes one off. */
const ON_CALL_SKEW = history(
  ON_CALL,
  [
    1,
    'T1',
    'si',
    '{"select":"doctors","where":"on_call AND shift = 7","rows":[{"key":"Ada","from":null},{"key":"Bob","from":null}]},{"update":"doctors","where":"name = \'Ada\'","write":"w1","rows":[{"key":"Ada","from":null,"row":{"name":"Ada","on_call":false,"shift":7}}]}',
  ],
  [
    2,
    'T2',
    'si',
    '{"select":"doctors","where":"on_call AND shift = 7","rows":[{"key":"Ada","from":null},{"key":"Bob","from":null}]},{"update":"doctors","where":"name = \'Bob\'","write":"w2","rows":[{"key":"Bob","from":null,"row":{"name":"Bob","on_call":false,"shift":7}}]}',
  ],
)

const BOOKING = '"where":"room = 4 AND start_hour < 12 AND end_hour > 10"'

/** Each finds the room free, and books it. */
export const BOOKING_SKEW = history(
  '{"isobar":1,"tables":{"bookings":{"columns":{"id":"integer","room":"integer","start_hour":"integer","end_hour":"integer"},"key":["id"]}}}',
  [
    1,
    'T1',
    'si',
    `{"select":"bookings",${BOOKING},"rows":[]},{"insert":"bookings","write":"w1","rows":[{"id":1,"room":4,"start_hour":10,"end_hour":12}]}`,
  ],
  [
    2,
    'T2',
    'si',
    `{"select":"bookings",${BOOKING},"rows":[]},{"insert":"bookings","write":"w2","rows":[{"id":2,"room":4,"start_hour":11,"end_hour":13}]}`,
  ],
)

const pay = (write: string, total: number) =>
  `{"update":"orders","where":"id = 1","write":"${write}","rows":[{"key":1,"from":null,"row":{"id":1,"status":"open","total":${total}}}]}`

export const LOST = history(ORDERS, [1, 'T1', 'si', pay('w1', 6)], [2, 'T2', 'si', pay('w2', 9)])

/** T1 passed order 1 over as well, which T3 may explain; the argument needs neither. */
export const LOST_BESIDE = history(
  ORDERS,
  [1, 'T1', 'si', `{"select":"orders","where":"status = 'gone' -- ?","rows":[]},${pay('w1', 6)}`],
  [2, 'T2', 'si', pay('w2', 9)],
  [3, 'T3', 'rc', pay('w3', 1).replace('"from":null', '"from":"w2"').replace('open', 'gone')],
)

/** Three versions of order 9 may have been passed over, and none of them fits. */
export const PASSED_OVER = history(
  ORDERS,
  [1, 'T1', 'rc', '{"insert":"orders","write":"w1","rows":[{"id":9,"status":"open","total":1}]}'],
  [
    1,
    'T2',
    'rc',
    '{"delete":"orders","where":"id = 9","write":"w2","rows":[{"key":9,"from":"w1"}]}',
  ],
  [1, 'T3', 'rc', '{"insert":"orders","write":"w3","rows":[{"id":9,"status":"lost","total":1}]}'],
  [
    1,
    'T4',
    'rc',
    '{"update":"orders","where":"status = \'lost\'","write":"w4","rows":[{"key":9,"from":"w3","row":{"id":9,"status":"open","total":2}}]},{"update":"orders","where":"id = 2","write":"w5","rows":[{"key":2,"from":null,"row":{"id":2,"status":"open","total":7}}]}',
  ],
  [
    2,
    'T5',
    'ser',
    `{"select":"orders",${OPEN},"rows":[{"key":1,"from":null},{"key":2,"from":"w5"}]}`,
  ],
)

export const SQL_GALLERY: readonly SqlExhibit[] = [
  { name: 'Phantom', level: 'mixed', text: PHANTOM },
  { name: 'PredicateWriteSkew', level: 'ser', text: BOOKING_SKEW },
  { name: 'WriteSkew', level: 'ser', text: ON_CALL_SKEW },
  { name: 'LostUpdate', level: 'si', text: LOST },
  { name: 'Phantom', level: 'mixed', text: PASSED_OVER },
  {
    name: 'VanishedRow',
    level: 'rc',
    text: history(ORDERS, [1, 'T1', 'rc', `{"select":"orders",${OPEN},"rows":[]}`]),
  },
  {
    name: 'NotMyOwnWrite',
    level: 'rc',
    text: history(ORDERS, [
      1,
      'T1',
      'rc',
      `{"insert":"orders","write":"w1","rows":[{"id":3,"status":"open"}]},{"select":"orders",${OPEN},"rows":[{"key":1,"from":null}]}`,
    ]),
  },
  {
    name: 'PredicateMismatch',
    level: 'rc',
    text: history(ORDERS, [
      1,
      'T1',
      'rc',
      `{"select":"orders",${OPEN},"rows":[{"key":1,"from":null},{"key":2,"from":null}]}`,
    ]),
  },
  {
    name: 'ThinAirRead',
    level: 'rc',
    text: history(ORDERS, [
      1,
      'T1',
      'rc',
      '{"select":"orders","where":"id = 1","rows":[{"key":1,"from":"nowhere"}]}',
    ]),
  },
]

/** The verdict on a history in the native format, as a report gets it. */
export async function judgeSql(text: string, level: LevelId, all = false): Promise<VerdictJson> {
  const parsed = parseHistory(text)
  const results = await judge(parsed, [level])
  const command = `isobar check orders.jsonl --level ${level}`
  const context = { path: 'orders.jsonl', format: 'native', parseMs: 0, asked: [level], command }
  const verdict = describeVerdict(parsed, results, { ...context, all })
  // Times differ from run to run; nothing else may.
  for (const result of verdict.results) Object.assign(result, { elapsedMs: 0, stages: {} })
  return verdict
}

/** A phantom in which every name, value and clause is the one given. */
export function hostileSql(name: string): string {
  const plain = name.replaceAll('(', '')
  const column = plain.replaceAll('\u0000', '')
  const rows = (from: string | null) => [{ key: [name], from }]
  const select = {
    select: plain,
    where: `"${column.replaceAll('"', '""')}" = $1`,
    params: [name],
  }
  const columns = { [`${column}key`]: 'text', [column]: 'text' }
  const table = { columns, key: [`${column}key`] }
  const row = { [`${column}key`]: name, [column]: name }
  return [
    { isobar: 1, tables: { [plain]: table } },
    {
      session: name,
      id: name,
      level: 'ser',
      ops: [
        { ...select, rows: [] },
        { ...select, rows: rows(name) },
      ],
    },
    {
      session: `${name}2`,
      id: `${name}2`,
      level: 'rc',
      ops: [{ insert: plain, write: name, rows: [row] }],
    },
  ]
    .map((line) => JSON.stringify(line))
    .join('\n')
}
