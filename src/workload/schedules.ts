// Scripted interleavings, one for each anomaly that isolation levels are told apart by: the
// schedules of Adya's phenomena as Hermitage (Martin Kleppmann) made them runnable, and a few more.
// Nothing here says what a database should answer: what its clients saw is recorded and judged.
// Steps are written as `T1 r x`; stepsOf parses them. Main table: SCHEDULES.
//
//   r x, w x        reads, writes a key; every write has a value of its own
//   put x           writes a key whether it is there or not (an upsert)
//   replace x       deletes the row of a key, and inserts another
//   lock x          reads a key FOR UPDATE
//   select P        reads the rows of a table (id, v) that satisfy P
//   insert 3 30     writes the row with id 3
//   update v = 12 where P, update v + 10 where P, delete P
//   commit, abort
//   begin         sends BEGIN by itself: without it a transaction begins with its first statement

import { assert } from '../base/errors.ts'

export interface Schedule {
  /** For cells, links, names of tables. */
  readonly id: string
  /** As papers have it. */
  readonly name: string
  /** What goes wrong, in a few words. */
  readonly about: string
  readonly steps: readonly string[]
  /** What it works on: keys, or rows found by their values. */
  readonly on: 'keys' | 'rows'
  /** What a database must have for it, beside that. */
  readonly needs?: 'locks' | 'deferred-constraints'
  /** Keys that are not there at first. */
  readonly absent?: readonly string[]
}

/** What rows hold at first: id, v. */
export const INITIAL_ROWS: readonly (readonly [id: bigint, v: bigint])[] = [
  [1n, 10n],
  [2n, 20n],
]

export type Step = { readonly txn: number; readonly text: string } & (
  | { readonly kind: 'read' | 'write' | 'put' | 'replace' | 'lock'; readonly key: string }
  | { readonly kind: 'select' | 'delete'; readonly where: string }
  | { readonly kind: 'insert'; readonly row: readonly [bigint, bigint] }
  | { readonly kind: 'update'; readonly where: string; readonly to: bigint | { add: bigint } }
  | { readonly kind: 'begin' | 'commit' | 'abort' }
)

const KEY_STEPS = { r: 'read', w: 'write', put: 'put', replace: 'replace', lock: 'lock' } as const

/** The steps of a schedule. */
export function stepsOf(schedule: Schedule): Step[] {
  return schedule.steps.map(parseStep)
}

/** `T1 update v = 12 where v = 10` */
export function parseStep(line: string): Step {
  const [, number, word = '', rest = ''] = /^T(\d) (\w+) ?(.*)$/.exec(line) ?? []
  const about = { txn: Number(number), text: `${word} ${rest}`.trim() }
  if (word === 'begin' || word === 'commit' || word === 'abort') return { ...about, kind: word }
  if (word === 'select' || word === 'delete') return { ...about, kind: word, where: rest }
  if (Object.hasOwn(KEY_STEPS, word)) {
    return { ...about, kind: KEY_STEPS[word as keyof typeof KEY_STEPS], key: rest }
  }
  const row = /^(\d+) (\d+)$/.exec(rest)
  if (word === 'insert' && row) {
    return { ...about, kind: word, row: [BigInt(row[1]!), BigInt(row[2]!)] }
  }
  const set = /^v ([=+]) (\d+) where (.+)$/.exec(rest)
  assert(word === 'update' && set !== null, `a step of a schedule, not "${line}"`)
  const amount = BigInt(set[2]!)
  return { ...about, kind: word, where: set[3]!, to: set[1] === '=' ? amount : { add: amount } }
}

/** @param script steps, with semicolons between them */
function schedule(
  [id, name, about]: readonly [id: string, name: string, about: string],
  script: string,
  more: Pick<Schedule, 'needs' | 'absent'> = {},
): Schedule {
  const on = /select|insert|update|delete/.test(script) ? 'rows' : 'keys'
  return { id, name, about, on, steps: script.split(';').map((step) => step.trim()), ...more }
}

export const SCHEDULES: readonly Schedule[] = [
  schedule(
    // The reader sees it from both sides: each of the two may have come last.
    ['g0', 'G0', 'writes of two transactions mix'],
    `T1 w x; T2 w x; T1 w y; T1 commit; T2 w y; T2 commit; T3 r x; T3 r y; T3 r x;
     T3 commit`,
  ),
  schedule(
    ['g1a', 'G1a', 'a write is read that is rolled back'],
    'T1 w x; T2 r x; T1 abort; T2 r x; T2 commit',
  ),
  schedule(
    ['g1b', 'G1b', 'a write is read that its transaction replaces'],
    'T1 w x; T2 r x; T1 w x; T1 commit; T2 r x; T2 commit',
  ),
  schedule(
    ['g1c', 'G1c', 'two transactions read from each other'],
    'T1 w x; T2 w y; T1 r y; T2 r x; T1 commit; T2 commit',
  ),
  schedule(
    ['otv', 'OTV', 'a transaction that was seen vanishes again'],
    `T1 w x; T1 w y; T2 w x; T1 commit; T3 r x; T2 w y; T3 r y; T2 commit; T3 r y; T3 r x;
     T3 commit`,
  ),
  schedule(
    ['p4', 'P4', 'an update is lost'],
    'T1 r x; T2 r x; T1 w x; T2 w x; T1 commit; T2 commit',
  ),
  schedule(
    // Whose snapshot or locks are those of its beginning has them before anybody reads.
    ['p4-early', 'P4, begun early', 'an update is lost that came after BEGIN'],
    'T1 begin; T2 begin; T2 r x; T2 w x; T2 commit; T1 r x; T1 w x; T1 commit',
  ),
  schedule(
    ['p4-replace', 'P4 by DELETE', 'an update is lost to a DELETE and INSERT'],
    'T1 r x; T2 r x; T1 w x; T1 commit; T2 replace x; T2 commit',
  ),
  schedule(
    ['g-single', 'G-single', 'half of another transaction is seen'],
    'T1 r x; T2 r x; T2 r y; T2 w x; T2 w y; T2 commit; T1 r y; T1 commit',
  ),
  schedule(
    ['g-single-dependency', 'G-single by what was read', 'an effect without its cause'],
    'T1 r x; T2 r y; T2 w x; T2 commit; T3 r x; T3 w y; T3 commit; T1 r y; T1 commit',
  ),
  schedule(
    ['g2-item', 'G2-item', 'write skew: each misses what the other writes'],
    'T1 r x; T1 r y; T2 r x; T2 r y; T1 w x; T2 w y; T1 commit; T2 commit',
  ),
  schedule(
    ['g2-item-early', 'G2-item, begun early', 'write skew with whom came after BEGIN'],
    `T1 begin; T2 begin; T2 r x; T2 r y; T2 w x; T2 commit; T1 r x; T1 r y; T1 w y;
     T1 commit`,
  ),
  schedule(
    ['g2-item-snapshot', 'G2-item of old snapshots', 'write skew with whom came after a read'],
    `T1 begin; T2 begin; T1 r z; T2 r z; T2 r x; T2 r y; T2 w x; T2 commit; T1 r x; T1 r y;
     T1 w y; T1 commit`,
  ),
  schedule(
    ['g2-read-only', 'G2 of a reader', 'a reader sees an order that others deny'],
    `T1 r x; T1 r y; T2 r y; T2 w y; T2 commit; T3 r x; T3 r y; T3 commit; T1 w x;
     T1 commit`,
  ),
  schedule(
    ['g2-read-only-early', 'G2 of a reader, begun early', 'the same, with whom came after BEGIN'],
    `T1 begin; T2 begin; T2 r y; T2 w y; T2 commit; T3 r x; T3 r y; T3 commit; T1 r x;
     T1 r y; T1 w x; T1 commit`,
  ),
  schedule(
    ['g1a-predicate', 'G1a by predicate', 'a row is found that is rolled back'],
    'T1 insert 3 30; T2 select v = 30; T1 abort; T2 select v = 30; T2 commit',
  ),
  schedule(
    ['g1b-predicate', 'G1b by predicate', 'a row is found as it was in between'],
    `T1 update v = 30 where id = 1; T2 select v = 30; T1 update v = 11 where id = 1;
     T1 commit; T2 select v = 30; T2 commit`,
  ),
  schedule(
    ['g1c-predicate', 'G1c by predicate', 'two transactions find rows of each other'],
    `T1 insert 3 30; T2 insert 4 42; T1 select v = 42; T2 select v = 30; T1 commit;
     T2 commit`,
  ),
  schedule(
    ['pmp', 'PMP', 'rows come up between two reads'],
    'T1 select v = 30; T2 insert 3 30; T2 commit; T1 select v % 3 = 0; T1 commit',
  ),
  schedule(
    ['pmp-write', 'PMP of a write', 'a write finds other rows than it should'],
    `T1 update v + 10 where TRUE; T2 select v = 20; T2 delete v = 20; T1 commit;
     T2 select v = 20; T2 commit`,
  ),
  schedule(
    ['pmp-statement', 'PMP of a statement', 'one statement mixes old and new rows'],
    'T1 update v + 10 where TRUE; T2 delete v = 20; T1 commit; T2 commit',
  ),
  schedule(
    ['p4-rows', 'P4 of rows', 'an update of a row is lost'],
    `T1 select id = 1; T2 select id = 1; T1 update v = 11 where id = 1;
     T2 update v = 12 where id = 1; T1 commit; T2 commit`,
  ),
  schedule(
    ['g-single-predicate', 'G-single by predicate', 'a row is missed where it was and is'],
    `T1 select v % 5 = 0; T2 update v = 12 where v = 10; T2 commit; T1 select v % 3 = 0;
     T1 commit`,
  ),
  schedule(
    ['g-single-write', 'G-single of a write', 'a write sees more than the reads before it'],
    `T1 select id = 1; T2 update v = 12 where id = 1; T2 update v = 18 where id = 2;
     T2 commit; T1 delete v = 20; T1 select id = 2; T1 commit`,
  ),
  schedule(
    ['g-single-race', 'G-single of two writers', 'a write waits, and then sees more'],
    `T1 select id = 1; T2 select TRUE; T2 update v = 12 where id = 1;
     T2 update v = 18 where id = 2; T1 delete v = 20; T2 commit; T1 commit`,
  ),
  schedule(
    ['index-skew', 'read skew by index', 'a row is found twice, under two values'],
    `T1 select v = 10; T2 update v = 30 where id = 1; T2 commit; T1 select v = 30;
     T1 commit`,
  ),
  schedule(
    ['g2', 'G2', 'write skew of rows that are not there yet'],
    `T1 select v % 3 = 0; T2 select v % 3 = 0; T1 insert 3 30; T2 insert 4 42; T1 commit;
     T2 commit`,
  ),
  schedule(
    ['g2-early', 'G2, begun early', 'write skew of rows that came after BEGIN'],
    `T1 begin; T2 begin; T2 select v % 3 = 0; T2 insert 3 30; T2 commit; T1 select v % 3 = 0;
     T1 insert 4 42; T1 commit`,
  ),
  schedule(
    ['g2-two-edges', 'G2 of three', 'a reader of rows sees an order that others deny'],
    `T1 select TRUE; T2 update v + 5 where id = 2; T2 commit; T3 select TRUE; T3 commit;
     T1 update v = 0 where id = 1; T1 commit`,
  ),
  schedule(
    ['upsert', 'upsert race', 'two upserts of a row that is not there yet'],
    'T1 r z; T2 r z; T1 put z; T2 put z; T1 commit; T2 commit',
    { absent: ['z'] },
  ),
  schedule(
    ['upsert-rows', 'upsert race of rows', 'the same, found by predicate'],
    `T1 select v = 30; T2 select v = 30; T1 insert 4 40; T1 insert 3 30;
     T2 insert 3 33; T1 commit; T2 commit; T3 select id > 2; T3 commit`,
  ),
  schedule(
    ['deferred', 'deferred constraint', 'two rows, one unique value, both look first'],
    `T1 select v = 30; T2 select v = 30; T1 insert 3 30; T2 insert 4 30; T1 commit;
     T2 commit`,
    { needs: 'deferred-constraints' },
  ),
  schedule(
    ['for-update', 'FOR UPDATE', 'an update is lost though its row was locked'],
    'T1 lock x; T2 lock x; T1 w x; T1 commit; T2 w x; T2 commit',
    { needs: 'locks' },
  ),
  schedule(
    ['for-update-late', 'FOR UPDATE after a read', 'a locked row differs from the snapshot'],
    'T1 r x; T2 r x; T2 w x; T2 commit; T1 lock x; T1 w x; T1 commit',
    { needs: 'locks' },
  ),
  schedule(
    ['for-update-skew', 'FOR UPDATE and skew', 'write skew though own rows are locked'],
    'T1 lock x; T2 lock y; T1 r y; T2 r x; T1 w x; T2 w y; T1 commit; T2 commit',
    { needs: 'locks' },
  ),
]
