// What every anomaly means for somebody whose database shows it: a small history that shows it and
// nothing worse, how it looks in SQL, what it costs, where to expect it, and what to do about it.
// One source for `isobar explain`, docs/glossary.md and the reports. Main table: ANOMALY_ENTRIES.

import { CYCLE_OF_THREE, SCRIPTS } from './glossary-scripts.ts'
import { VERSION_ENTRIES } from './glossary-version-anomalies.ts'
import {
  type AnomalyEntry,
  BUG,
  FRACTURED,
  NOT_UNCOMMITTED,
  ONE_SNAPSHOT,
  REPLICAS,
  REPORT_BUG,
  SERIALIZABLE,
  SNAPSHOTS,
  STICKY,
  UNCOMMITTED,
} from './lesson.ts'

export const ANOMALY_ENTRIES: readonly AnomalyEntry[] = [
  {
    name: 'ThinAirRead',
    history: 's1: w(x,1)\ns2: r(x,7)',
    sql: [
      ['A', "UPDATE t SET v = 1 WHERE k = 'x'"],
      ['B', "SELECT v FROM t WHERE k = 'x'  -- 7, which nobody wrote"],
    ],
    harm: 'Data are corrupt, or writes happen that nobody knows of.',
    where: BUG,
    cure: `${REPORT_BUG} Look first for writers that were not recorded.`,
  },
  {
    name: 'AbortedRead',
    history: 's1: w(x,1) [aborted]\ns2: r(x,1)',
    sql: [
      ['A', "BEGIN; UPDATE t SET v = 1 WHERE k = 'x'"],
      ['B', "SELECT v FROM t WHERE k = 'x'  -- 1"],
      ['A', 'ROLLBACK'],
    ],
    harm: 'Somebody acts on something that never happened: a payment that was taken back is shipped.',
    where: UNCOMMITTED,
    cure: NOT_UNCOMMITTED,
  },
  {
    name: 'FutureRead',
    history: 's1: r(x,1) w(x,1)',
    sql: [
      ['A', "BEGIN; SELECT v FROM t WHERE k = 'x'  -- 1"],
      ['A', "UPDATE t SET v = 1 WHERE k = 'x'; COMMIT"],
    ],
    harm: 'A transaction sees its own effect before it has had one; nothing it read can be trusted.',
    where: BUG,
    cure: `${REPORT_BUG} Look first for retries that were recorded as one transaction.`,
  },
  {
    name: 'NotMyOwnWrite',
    history: 's1: w(x,1)\ns2: w(x,2) r(x,1)',
    sql: [
      ['A', "UPDATE t SET v = 1 WHERE k = 'x'"],
      ['B', "BEGIN; UPDATE t SET v = 2 WHERE k = 'x'"],
      ['B', "SELECT v FROM t WHERE k = 'x'; COMMIT  -- 1"],
    ],
    harm: 'A transaction does not find what it wrote itself, and may write it again.',
    where: `${BUG} A pooler that gives one transaction two connections looks like this.`,
    cure: `Pool by transaction or session, not by statement. ${REPORT_BUG}`,
  },
  {
    name: 'NotMyLastWrite',
    history: 's1: w(x,1) w(x,2) r(x,1)',
    sql: [
      ['A', "BEGIN; UPDATE t SET v = 1 WHERE k = 'x'; UPDATE t SET v = 2 WHERE k = 'x'"],
      ['A', "SELECT v FROM t WHERE k = 'x'; COMMIT  -- 1"],
    ],
    harm: 'A transaction works on from a value that it has replaced itself.',
    where: BUG,
    cure: REPORT_BUG,
  },
  {
    name: 'IntermediateRead',
    history: 's1: w(x,1) w(x,2)\ns2: r(x,1)',
    sql: [
      ['A', "BEGIN; UPDATE t SET v = 1 WHERE k = 'x'"],
      ['B', "SELECT v FROM t WHERE k = 'x'  -- 1"],
      ['A', "UPDATE t SET v = 2 WHERE k = 'x'; COMMIT"],
    ],
    harm: 'Somebody acts on a state that was never meant to be seen: half a transfer.',
    where: UNCOMMITTED,
    cure: NOT_UNCOMMITTED,
  },
  {
    name: 'CircularInformationFlow',
    history: 's1: r(x,2) w(y,1)\ns2: r(y,1) w(x,2)',
    sql: [
      ['A', "BEGIN; UPDATE t SET v = 1 WHERE k = 'y'"],
      ['B', "BEGIN; UPDATE t SET v = 2 WHERE k = 'x'; SELECT v FROM t WHERE k = 'y'  -- 1"],
      ['A', "SELECT v FROM t WHERE k = 'x'; COMMIT  -- 2"],
      ['B', 'COMMIT'],
    ],
    harm: 'Each of two transactions rests on the other; neither can be said to have come first.',
    where: UNCOMMITTED,
    cure: NOT_UNCOMMITTED,
  },
  {
    name: 'NonMonotonicRead',
    history: 's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(y,2) r(x,1)',
    sql: [
      ['A', "BEGIN; UPDATE t SET v = 2 WHERE k IN ('x', 'y'); COMMIT"],
      ['B', "BEGIN; SELECT v FROM t WHERE k = 'y'  -- 2"],
      ['B', "SELECT v FROM t WHERE k = 'x'; COMMIT  -- 1"],
    ],
    harm: 'Time runs backwards inside one transaction: an invoice is there, its lines are the old ones.',
    where: REPLICAS,
    cure: `Send a transaction to one node. ${STICKY}`,
  },
  {
    name: 'NonMonoReadCM',
    history:
      's0: w(a,1) w(x,1) w(z,1)\ns1: w(b,1) w(x,2) w(y,1)\ns2: w(c,1) w(y,2) w(z,2)\ns3: r(a,1) r(x,2)\ns4: r(b,1) r(y,2)\ns5: r(c,1) r(z,1)',
    sql: CYCLE_OF_THREE,
    harm: 'What readers saw inside their transactions does not fit any order of the writers.',
    where: REPLICAS,
    cure: `Send a transaction to one node. ${STICKY}`,
  },
  {
    name: 'NonRepeatableRead',
    history: 's1: r(x,0) r(x,1) [start=2 finish=8]\ns2: w(x,1) [start=3 finish=4]',
    sql: [
      ['A', "BEGIN; SELECT v FROM t WHERE k = 'x'  -- 0"],
      ['B', "UPDATE t SET v = 1 WHERE k = 'x'"],
      ['A', "SELECT v FROM t WHERE k = 'x'; COMMIT  -- 1"],
    ],
    harm: 'A check and the action that rests on it see different values.',
    where: FRACTURED,
    cure: ONE_SNAPSHOT,
  },
  {
    name: 'FracturedRead',
    history: 's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(x,1) r(y,2)',
    sql: [
      ['A', "BEGIN; SELECT v FROM t WHERE k = 'x'  -- 1"],
      ['B', "BEGIN; UPDATE t SET v = 2 WHERE k IN ('x', 'y'); COMMIT"],
      ['A', "SELECT v FROM t WHERE k = 'y'; COMMIT  -- 2"],
    ],
    harm: 'Half of another transaction is seen: money that has left one account and not reached the other.',
    where: FRACTURED,
    cure: ONE_SNAPSHOT,
  },
  {
    name: 'FracturedReadCM',
    history: 's1: w(x,2) | r(x,1) | w(x,4)\ns2: w(x,1) | r(x,2) | w(x,3)',
    sql: SCRIPTS.FracturedReadCM,
    harm: 'Sessions disagree about which of two writes came last.',
    where: REPLICAS,
    cure: STICKY,
  },
  {
    name: 'ConflictCM',
    history:
      's1: w(x,1) w(a,1)\ns2: w(x,2) w(b,1)\ns3: r(a,1) w(c,1)\ns4: r(b,1) w(d,1)\ns5: r(c,1) r(x,2)\ns6: r(d,1) r(x,1)',
    sql: SCRIPTS.ConflictCM,
    harm: 'Replicas disagree about which of two writes came last, and stay so.',
    where: REPLICAS,
    cure: 'Let one node order the writes of a key, or merge them by a rule that is the same everywhere.',
  },
  {
    name: 'LostUpdate',
    history:
      's1: r(x,0) w(x,1) [start=1 finish=5 level=si]\ns2: r(x,0) w(x,2) [start=2 finish=6 level=si]',
    sql: [
      ['A', "BEGIN; SELECT v FROM t WHERE k = 'x'  -- 10"],
      ['B', "BEGIN; SELECT v FROM t WHERE k = 'x'  -- 10"],
      ['A', "UPDATE t SET v = 11 WHERE k = 'x'; COMMIT"],
      ['B', "UPDATE t SET v = 12 WHERE k = 'x'; COMMIT  -- A's update is gone"],
    ],
    harm: 'Two people take from one account, and one withdrawal is not booked.',
    where: 'READ COMMITTED everywhere; REPEATABLE READ in MariaDB and MySQL.',
    cure: 'Let the statement compute (SET v = v + 1), read with FOR UPDATE, compare a version column, or ask for snapshots that refuse it: REPEATABLE READ in PostgreSQL.',
  },
  {
    name: 'LongFork',
    history: 's1: w(x,1)\ns2: w(y,1)\ns3: r(x,1) r(y,0)\ns4: r(x,0) r(y,1)',
    sql: [
      ['A', "UPDATE t SET v = 1 WHERE k = 'x'"],
      ['B', "UPDATE t SET v = 1 WHERE k = 'y'"],
      ['C', 'SELECT k, v FROM t  -- on one replica: x = 1, y = 0; on another: x = 0, y = 1'],
    ],
    harm: 'Two observers see two events in opposite orders, and each is sure of its own.',
    where: `${REPLICAS} A primary of PostgreSQL with a replica shows it.`,
    cure: 'Read what has to agree from one node.',
  },
  {
    name: 'WriteSkew',
    history: 's1: r(x,0) r(y,0) w(x,1)\ns2: r(x,0) r(y,0) w(y,1)',
    sql: [
      ['A', 'BEGIN; SELECT count(*) FROM doctors WHERE on_call  -- 2'],
      ['B', 'BEGIN; SELECT count(*) FROM doctors WHERE on_call  -- 2'],
      ['A', "UPDATE doctors SET on_call = false WHERE name = 'Ada'; COMMIT"],
      ['B', "UPDATE doctors SET on_call = false WHERE name = 'Bob'; COMMIT  -- nobody is left"],
    ],
    harm: 'A rule over several rows is checked by each and broken by both together.',
    where: SNAPSHOTS,
    cure: SERIALIZABLE,
  },
  {
    name: 'ReadOnlyAnomaly',
    history: 's1: r(x,0) w(x,1)\ns2: r(x,0) r(y,0) w(y,2)\ns3: r(x,1) r(y,0)',
    sql: [
      ['A', "BEGIN; SELECT v FROM t WHERE k IN ('x', 'y')  -- 0 and 0"],
      ['B', "UPDATE t SET v = 1 WHERE k = 'x'"],
      ['C', "SELECT v FROM t WHERE k IN ('x', 'y')  -- 1 and 0: a report"],
      ['A', "UPDATE t SET v = 2 WHERE k = 'y'; COMMIT  -- as if B had not been, after C saw it"],
    ],
    harm: 'A report shows a state that the books, read later, never went through.',
    where: SNAPSHOTS,
    cure: SERIALIZABLE,
  },
  {
    name: 'CausalityViolation',
    history: 's1: r(x,1) r(y,0)\ns2: r(y,0) w(y,1) | r(x,0) w(x,1)',
    sql: [
      [
        'A',
        "UPDATE t SET v = 1 WHERE k = 'y'; UPDATE t SET v = 1 WHERE k = 'x'  -- two transactions",
      ],
      ['B', "BEGIN; SELECT v FROM t WHERE k = 'x'  -- 1"],
      ['B', "SELECT v FROM t WHERE k = 'y'; COMMIT  -- 0"],
    ],
    harm: 'An effect is seen without its cause: a reply without the message.',
    where: REPLICAS,
    cure: STICKY,
  },
  {
    name: 'SessionGuaranteeViolation',
    history: 's1: w(y,1) | w(x,2) | r(y,0) w(y,3)',
    sql: [
      ['A', "UPDATE t SET v = 1 WHERE k = 'y'"],
      ['A', "SELECT v FROM t WHERE k = 'y'  -- 0: on a replica that lags"],
    ],
    harm: 'A user saves a form, and finds the old text on the next page.',
    where: REPLICAS,
    cure: STICKY,
  },
  {
    name: 'ReadYourWritesViolation',
    history: 's1: w(x,1) | r(x,0)',
    level: 'ryw',
    sql: [
      ['A', "UPDATE t SET v = 1 WHERE k = 'x'  -- on the primary"],
      ['A', "SELECT v FROM t WHERE k = 'x'  -- 0: on a replica that lags"],
    ],
    harm: 'A user changes an address, and the next page asks to confirm the old one.',
    where: REPLICAS,
    cure: 'Read from where one writes for a while after a write, or have the replica wait for the log position of one’s last write.',
  },
  {
    name: 'MonotonicReadsViolation',
    history: 's1: w(x,1)\ns2: r(x,1) | r(x,0)',
    level: 'mr',
    sql: [
      ['A', "UPDATE t SET v = 1 WHERE k = 'x'"],
      ['B', "SELECT v FROM t WHERE k = 'x'  -- 1: on one replica"],
      ['B', "SELECT v FROM t WHERE k = 'x'  -- 0: on another one, which lags more"],
    ],
    harm: 'A comment appears, and is gone when the page is loaded again.',
    where: 'Several replicas behind a balancer that sends each statement to any of them.',
    cure: 'Send a session to one replica, or pass on the log position of what it has read and have replicas wait for it.',
  },
  {
    name: 'MonotonicWritesViolation',
    history: 's1: w(x,1) | w(y,1)\ns2: r(y,1) r(x,0)',
    level: 'mw',
    sql: [
      [
        'A',
        "UPDATE t SET v = 1 WHERE k = 'x'; UPDATE t SET v = 1 WHERE k = 'y'  -- two transactions",
      ],
      ['B', "BEGIN; SELECT v FROM t WHERE k = 'y'  -- 1"],
      ['B', "SELECT v FROM t WHERE k = 'x'; COMMIT  -- 0: the later write came first"],
    ],
    harm: 'A switch is on before what it switches on has been configured.',
    where:
      'Stores that send the writes of one client to several primaries, or replicas that apply them in any order.',
    cure: 'Make one transaction of writes that belong together, or send a session’s writes to one primary whose replicas apply its log in order.',
  },
  {
    name: 'WritesFollowReadsViolation',
    history: 's1: w(x,1)\ns2: r(x,1) w(y,1)\ns3: r(y,1) r(x,0)',
    level: 'wfr',
    sql: [
      ['A', "UPDATE t SET v = 1 WHERE k = 'x'"],
      ['B', "BEGIN; SELECT v FROM t WHERE k = 'x'  -- 1"],
      ['B', "UPDATE t SET v = 1 WHERE k = 'y'; COMMIT  -- because of it"],
      ['C', "BEGIN; SELECT v FROM t WHERE k = 'y'  -- 1"],
      ['C', "SELECT v FROM t WHERE k = 'x'; COMMIT  -- 0"],
    ],
    harm: 'A reply is shown, and the message that it replies to is not there.',
    where: 'Several primaries that send each other what they wrote, without what it rests on.',
    cure: 'Let writes carry what their session had read: causal sessions, or one order of all commits.',
  },
  {
    name: 'StaleRead',
    history: 's1: r(x,0) w(x,1) [start=1 finish=3]\ns2: r(x,0) [start=4 finish=6]',
    sql: [
      ['A', "UPDATE t SET v = 1 WHERE k = 'x'  -- done"],
      ['B', "SELECT v FROM t WHERE k = 'x'  -- 0"],
    ],
    harm: 'Somebody is told that it is done, looks elsewhere, and it is not.',
    where: 'Replicas; also serializable databases that promise no real time.',
    cure: 'Ask for strict serializability where the database has it, or read from the primary.',
  },
  ...VERSION_ENTRIES,
]
