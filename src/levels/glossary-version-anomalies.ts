// Anomalies that show where more is known than what was read: the order of versions, and rows that
// statements returned or passed over. Main table: VERSION_ENTRIES.

import { SCRIPTS } from './glossary-scripts.ts'
import {
  type AnomalyEntry,
  BUG,
  FRACTURED,
  ONE_SNAPSHOT,
  REPLICAS,
  REPORT_BUG,
  SERIALIZABLE,
  SNAPSHOTS,
} from './lesson.ts'

const ORDERS =
  '{"isobar":1,"tables":{"orders":{"columns":{"id":"integer","status":"text"},"key":["id"],"rows":[{"id":1,"status":"open"},{"id":2,"status":"done"}]}}}'

export const VERSION_ENTRIES: readonly AnomalyEntry[] = [
  {
    name: 'G0',
    history: 's1: append(x,1) append(y,1)\ns2: append(x,2) append(y,2)\ns3: r(x,[1,2]) r(y,[2,1])',
    sql: [
      ['A', "BEGIN; UPDATE t SET v = v || 'a' WHERE k = 'x'"],
      [
        'B',
        "BEGIN; UPDATE t SET v = v || 'b' WHERE k = 'x'; UPDATE t SET v = v || 'b' WHERE k = 'y'; COMMIT",
      ],
      ['A', "UPDATE t SET v = v || 'a' WHERE k = 'y'; COMMIT  -- x: ab, y: ba"],
    ],
    harm: 'Two transactions overwrite each other half and half: the car goes to one, the invoice to the other.',
    where: `${BUG} Stores without transactions of several keys show it all the time.`,
    cure: REPORT_BUG,
  },
  {
    name: 'G1c',
    history: 's1: w(y,1) [start=3 finish=4]\ns3: r(y,1) [start=0 finish=2]',
    level: 'sser',
    sql: SCRIPTS.G1c,
    harm: 'Something was seen before it had begun.',
    where: `${BUG} Clocks that disagree look like this.`,
    cure: 'Record the times of all clients on one clock, then look again.',
  },
  {
    name: 'G-single',
    history: 's1: r(y,0) w(x,1)\ns2: r(x,0) w(y,1) w(x,2)',
    level: 'si',
    sql: SCRIPTS['G-single'],
    harm: 'A transaction missed something that what it saw, or its own session, rests on.',
    where: FRACTURED,
    cure: ONE_SNAPSHOT,
  },
  {
    name: 'G-nonadjacent',
    history:
      's1: r(y,2) w(x,3)\ns2: w(y,1) | w(y,2) | r(y,4) r(x,0)\ns3: w(y,4)\ns4: r(y,1) w(x,7)',
    level: 'si',
    sql: SCRIPTS['G-nonadjacent'],
    harm: 'Snapshots do not come from one history: observers disagree about the order of events.',
    where: REPLICAS,
    cure: 'Read what has to agree from one node.',
  },
  {
    name: 'G2-item',
    history: 's1: r(y,0) w(y,1) r(x,0)\ns2: r(x,0) w(x,1) | r(y,0) r(x,1) w(x,2)',
    sql: SCRIPTS['G2-item'],
    harm: 'Transactions each miss what another one writes; no serial order explains them all.',
    where: SNAPSHOTS,
    cure: SERIALIZABLE,
  },
  {
    name: 'WrongVersion',
    history: 's1: w(x,1)@1\ns2: w(x,2)@2\ns3: r(x,1)@2',
    sql: SCRIPTS.WrongVersion,
    harm: 'The store numbers what it holds wrongly: whoever relies on its versions, to compare and set, to cache or to replicate, is misled.',
    where: BUG,
    cure: REPORT_BUG,
  },
  {
    name: 'IncompatibleOrder',
    history: 's1: append(l,1)\ns2: append(l,2)\ns3: r(l,[1,2])\ns4: r(l,[2,1])',
    sql: SCRIPTS.IncompatibleOrder,
    harm: 'Two readers of one list saw its elements in different orders; one of the orders was undone.',
    where: BUG,
    cure: REPORT_BUG,
  },
  {
    name: 'DuplicateElements',
    history: 's1: append(l,1)\ns2: r(l,[1,1])',
    sql: SCRIPTS.DuplicateElements,
    harm: 'One write took effect twice: a payment is booked two times.',
    where: `${BUG} A client that sends a write again after a timeout looks like this.`,
    cure: 'Give every write an id, and refuse one that is there already.',
  },
  {
    name: 'PredicateMismatch',
    history: `${ORDERS}\n{"session":1,"id":"T1","level":"rc","ops":[{"select":"orders","where":"status = 'open'","rows":[{"key":1,"from":null},{"key":2,"from":null}]}]}`,
    level: 'rc',
    sql: [['A', "SELECT * FROM orders WHERE status = 'open'  -- returns one that is done"]],
    harm: 'A statement answers another question than it was asked.',
    where: `${BUG} An index that no longer fits its table looks like this.`,
    cure: `Rebuild the index (REINDEX). ${REPORT_BUG}`,
  },
  {
    name: 'DuplicateRow',
    history: 's1: w(x,1) | w(x,2)\ns2: rows(x,[1,2])',
    sql: [['A', 'SELECT * FROM t WHERE k = 1  -- two rows, though k is the primary key']],
    harm: 'A primary key no longer says which row is meant; updates reach one of two, or both.',
    where: `${BUG} A damaged unique index looks like this.`,
    cure: `Find the duplicates without the index, remove them, rebuild it. ${REPORT_BUG}`,
  },
  {
    name: 'VanishedRow',
    history: `${ORDERS}\n{"session":1,"id":"T1","level":"rc","ops":[{"select":"orders","where":"status = 'open'","rows":[]}]}`,
    level: 'rc',
    sql: [
      ['A', "SELECT * FROM orders WHERE status = 'open'  -- nothing, though nobody touched it"],
    ],
    harm: 'A row is gone that nobody deleted.',
    where: `${BUG} An index that no longer fits its table looks like this.`,
    cure: `Look for it without the index, rebuild the index. ${REPORT_BUG}`,
  },
  {
    name: 'LostCommit',
    history: 's1: w(x,1) [start=1 finish=2]\ns2: r(x,0) [audit start=5 finish=6]',
    sql: [
      ['A', "UPDATE t SET v = 1 WHERE k = 'x'  -- COMMIT is acknowledged; the server crashes"],
      ['B', "SELECT v FROM t WHERE k = 'x'  -- 0, after its restart"],
    ],
    harm: 'What was promised is gone: a customer has a receipt, the shop has no order.',
    where:
      'synchronous_commit = off in PostgreSQL, innodb_flush_log_at_trx_commit other than 1 in MariaDB and MySQL; replicas that take over without all of the log.',
    cure: 'Wait for the disk, and for a replica where one takes over.',
  },
  {
    name: 'Phantom',
    history: `${ORDERS}\n{"session":1,"id":"T1","level":"ser","ops":[{"select":"orders","where":"status = 'open'","rows":[{"key":1,"from":null}]},{"select":"orders","where":"status = 'open'","rows":[{"key":1,"from":null},{"key":17,"from":"w1"}]}]}\n{"session":2,"id":"T2","level":"rc","ops":[{"insert":"orders","write":"w1","rows":[{"id":17,"status":"open"}]}]}`,
    level: 'mixed',
    sql: [
      ['A', "BEGIN; SELECT count(*) FROM orders WHERE status = 'open'  -- 1"],
      ['B', "INSERT INTO orders VALUES (17, 'open')"],
      ['A', "SELECT count(*) FROM orders WHERE status = 'open'; COMMIT  -- 2"],
    ],
    harm: 'A count, and the list that it counts, do not agree.',
    where: FRACTURED,
    cure: ONE_SNAPSHOT,
  },
  {
    name: 'PredicateWriteSkew',
    history:
      '{"isobar":1,"tables":{"bookings":{"columns":{"id":"integer","room":"integer"},"key":["id"],"rows":[]}}}\n{"session":1,"id":"T1","level":"si","ops":[{"select":"bookings","where":"room = 4","rows":[]},{"insert":"bookings","write":"w1","rows":[{"id":1,"room":4}]}]}\n{"session":2,"id":"T2","level":"si","ops":[{"select":"bookings","where":"room = 4","rows":[]},{"insert":"bookings","write":"w2","rows":[{"id":2,"room":4}]}]}',
    level: 'ser',
    sql: [
      ['A', 'BEGIN; SELECT * FROM bookings WHERE room = 4  -- free'],
      ['B', 'BEGIN; SELECT * FROM bookings WHERE room = 4  -- free'],
      ['A', 'INSERT INTO bookings VALUES (1, 4); COMMIT'],
      ['B', 'INSERT INTO bookings VALUES (2, 4); COMMIT  -- booked twice'],
    ],
    harm: 'A room is booked twice.',
    where: SNAPSHOTS,
    cure: 'Let a constraint say it (UNIQUE, or EXCLUDE in PostgreSQL), or ask for SERIALIZABLE and retry what it refuses. Locking rows does not help: there is none to lock.',
  },
]
