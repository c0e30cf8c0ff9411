// Small histories on which checkers are known to go wrong: what each of them teaches, told as
// anomalies are. Half of them are harmless but for one operation. Which levels forbid them is
// judged when they are shown; `forbidden` is what has to come out. Main table: CASE_ENTRIES.

import { CYCLE_OF_THREE } from './glossary-scripts.ts'
import { type Lesson, NOT_UNCOMMITTED, REPLICAS, STICKY, UNCOMMITTED } from './lesson.ts'
import type { LevelId } from './levels.ts'

export interface CaseEntry extends Lesson {
  /** As one asks for it. */
  readonly name: string
  readonly title: string
  /** What happens in it. */
  readonly meaning: string
  /** The weakest level of the chain that forbids it; null if all allow it. */
  readonly forbidden: LevelId | null
  /** How a checker, or a reader, gets it wrong. */
  readonly trap: string
}

const ALLOWED = 'Everywhere: no level forbids it.'

export const CASE_ENTRIES: readonly CaseEntry[] = [
  {
    name: 'initial-value-again',
    title: 'The initial value, again',
    meaning:
      'A session writes x, and its next transaction reads what was there before anybody wrote.',
    history: 's1: w(x,1) | r(x,0)',
    forbidden: 'ra',
    trap: 'A checker that knows the initial state only as “no writer” never asks who replaced it, and accepts this.',
    sql: [
      ['A', "BEGIN; UPDATE t SET v = 1 WHERE k = 'x'; COMMIT"],
      ['A', "SELECT v FROM t WHERE k = 'x'  -- 0, on a replica that lags"],
    ],
    harm: 'A user saves something, and the next page shows it as if nothing had been saved.',
    where: REPLICAS,
    cure: STICKY,
  },
  {
    name: 'older-than-what-was-read',
    title: 'Older than what was read before',
    meaning:
      'A transaction reads y from another one, and then x as it was before that one replaced it.',
    history: 's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(y,2) r(x,1)',
    forbidden: 'rc',
    trap: 'Even rc forbids it, because the read of y comes first; with the two reads exchanged rc allows it. A checker that looks at sets of reads cannot tell the two apart.',
    sql: [
      ['A', "BEGIN; UPDATE t SET v = 2 WHERE k = 'x'"],
      ['A', "UPDATE t SET v = 2 WHERE k = 'y'; COMMIT"],
      ['B', "BEGIN; SELECT v FROM t WHERE k = 'y'  -- 2"],
      ['B', "SELECT v FROM t WHERE k = 'x'; COMMIT  -- 1, older than what it knows"],
    ],
    harm: 'What is read later is older: a total that was read after its parts lacks one of them.',
    where: 'Reads of one transaction that go to several replicas, or through a cache.',
    cure: 'Send the reads of a transaction to one place, or ask for a level with snapshots.',
  },
  {
    name: 'forced-but-not-seen',
    title: 'Forced to come first, and yet not seen',
    meaning:
      'An order of two writes follows from what was read; nobody saw both, and nobody has to.',
    history: 's0: w(x,1) | w(x,2) w(y,2) | r(y,3)\ns1: r(x,1) w(y,3)',
    forbidden: 'si',
    trap: 'What is forced into the commit order is not thereby visible. A checker that feeds it back into causality rejects this at cc, where it holds.',
    sql: [
      ['A', "UPDATE t SET v = 1 WHERE k = 'x'"],
      ['B', "BEGIN; SELECT v FROM t WHERE k = 'x'  -- 1"],
      ['A', "UPDATE t SET v = 2 WHERE k IN ('x', 'y')"],
      ['B', "UPDATE t SET v = 3 WHERE k = 'y'; COMMIT"],
      ['A', "SELECT v FROM t WHERE k = 'y'  -- 3"],
    ],
    harm: 'The second session decided by an x that was no longer there, and its y won.',
    where: 'READ COMMITTED, and snapshots that do not refuse the second of two writers.',
    cure: 'Ask for snapshot isolation that refuses (REPEATABLE READ in PostgreSQL), and retry.',
  },
  {
    name: 'lost-update-rolled-back',
    title: 'A lost update that was rolled back',
    meaning: 'Two read the same version and write it; the second is aborted, as it has to be.',
    history: 's0: w(x,1)\ns1: r(x,1) w(x,2)\ns2: r(x,1) w(x,3) [aborted]',
    forbidden: null,
    trap: 'A checker that counts aborted transactions reports a lost update where the database has just prevented one.',
    sql: [
      ['A', "BEGIN; SELECT v FROM t WHERE k = 'x'  -- 1"],
      ['B', "BEGIN; SELECT v FROM t WHERE k = 'x'  -- 1"],
      ['A', "UPDATE t SET v = 2 WHERE k = 'x'; COMMIT"],
      ['B', "UPDATE t SET v = 3 WHERE k = 'x'  -- refused"],
      ['B', 'ROLLBACK'],
    ],
    harm: 'None, if the program tries again.',
    where: ALLOWED,
    cure: 'Retry what is refused, from the first read on.',
  },
  {
    name: 'replaced-and-read-again',
    title: 'Replaced, and read again',
    meaning: 'A session reads the initial x, replaces it, and then reads the initial x once more.',
    history: 's0: r(x,0) w(x,1) | r(x,0)',
    forbidden: 'ra',
    trap: 'As a read-modify-write it looks like a chain of versions, and the last read like one of the first link; what the session wrote in between must count.',
    sql: [
      ['A', "BEGIN; SELECT v FROM t WHERE k = 'x'  -- 0"],
      ['A', "UPDATE t SET v = v + 1 WHERE k = 'x'; COMMIT"],
      ['A', "SELECT v FROM t WHERE k = 'x'  -- 0 again"],
    ],
    harm: 'A counter that somebody has just increased goes back; they increase it again.',
    where: REPLICAS,
    cure: STICKY,
  },
  {
    name: 'predecessor-further-back',
    title: 'A predecessor further back',
    meaning: 'A session reads a version that it replaced itself, with another transaction between.',
    history: 's0: w(x,1) | w(x,2) | w(y,9) | r(x,1)',
    forbidden: 'ra',
    trap: 'Session order is transitive. A checker that only looks at the transaction just before accepts this.',
    sql: [
      ['A', "UPDATE t SET v = 1 WHERE k = 'x'"],
      ['A', "UPDATE t SET v = 2 WHERE k = 'x'"],
      ['A', "UPDATE t SET v = 9 WHERE k = 'y'"],
      ['A', "SELECT v FROM t WHERE k = 'x'  -- 1"],
    ],
    harm: 'A change that was there a while ago is gone again for the one who made it.',
    where: REPLICAS,
    cure: STICKY,
  },
  {
    name: 'commit-of-unknown-outcome',
    title: 'A commit of unknown outcome that was read',
    meaning:
      'A client never learned whether its COMMIT took effect; somebody has read what it wrote.',
    history: 's0: w(x,1) [indeterminate]\ns1: r(x,1)',
    forbidden: null,
    trap: 'Taken for aborted, it would make an AbortedRead of a good read, or a value out of thin air. Being read proves that it did commit.',
    sql: [
      ['A', "BEGIN; UPDATE t SET v = 1 WHERE k = 'x'"],
      ['A', 'COMMIT  -- the connection broke before the answer came'],
      ['B', "SELECT v FROM t WHERE k = 'x'  -- 1"],
    ],
    harm: 'None here; a program that takes it for failed and tries again may do things twice.',
    where: ALLOWED,
    cure: 'Look whether it took effect before trying again, or make a repetition harmless.',
  },
  {
    name: 'forced-cycle-of-three',
    title: 'A forced cycle of three',
    meaning:
      'Three readers each force an order of two writers, and the three orders together are a circle.',
    history:
      's0: w(a,1) w(x,1) w(z,1)\ns1: w(b,1) w(x,2) w(y,1)\ns2: w(c,1) w(y,2) w(z,2)\ns3: r(a,1) r(x,2)\ns4: r(b,1) r(y,2)\ns5: r(c,1) r(z,1)',
    forbidden: 'rc',
    trap: 'No two transactions contradict each other. A checker that only compares pairs accepts this.',
    sql: CYCLE_OF_THREE,
    harm: 'Replicas do not agree on who wrote last, and will keep different values.',
    where: 'Several primaries, or replicas that apply writes in orders of their own.',
    cure: 'Let one place decide the order of writes, or merge them by a rule that does not depend on it.',
  },
  {
    name: 'circle-of-reads',
    title: 'A circle of reads',
    meaning: 'Each of two transactions has read what the other one wrote.',
    history: 's1: w(x,1) r(y,1)\ns2: w(y,1) r(x,1)',
    forbidden: 'rc',
    trap: 'There is no first one. A checker that walks from cause to effect hangs, or runs out of stack, unless it looks for circles first.',
    sql: [
      ['A', "BEGIN; UPDATE t SET v = 1 WHERE k = 'x'"],
      ['B', "BEGIN; UPDATE t SET v = 1 WHERE k = 'y'"],
      ['A', "SELECT v FROM t WHERE k = 'y'; COMMIT  -- 1, not committed yet"],
      ['B', "SELECT v FROM t WHERE k = 'x'; COMMIT  -- 1"],
    ],
    harm: 'Each rests on the other; if one of them fails, the other one should never have been.',
    where: UNCOMMITTED,
    cure: NOT_UNCOMMITTED,
  },
]
