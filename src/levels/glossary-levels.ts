// What every level means: what one may rely on, what may still happen, and what a database calls
// it. One source for `isobar explain` and docs/glossary.md. Main table: LEVEL_ENTRIES.

import type { LevelId } from './levels.ts'

export interface LevelEntry {
  readonly id: LevelId
  /** What a program may rely on. */
  readonly promise: string
  /** What may happen all the same. */
  readonly allows: string
  /** Which settings of which databases are meant to keep it. */
  readonly where: string
}

export const LEVEL_ENTRIES: readonly LevelEntry[] = [
  {
    id: 'ci',
    promise: 'Reading a key again in one transaction gives the same value again.',
    allows: 'Almost everything that concerns two keys.',
    where: 'A weak part of REPEATABLE READ; no database stops there.',
  },
  {
    id: 'rc',
    promise:
      'Only what was committed is read, and within a transaction one never goes back behind what one has seen.',
    allows: 'Reads that differ when they are repeated, half of other transactions, lost updates.',
    where: 'READ COMMITTED, the default of PostgreSQL, Oracle and SQL Server.',
  },
  {
    id: 'ryw',
    promise: 'What rc promises, and a session sees what it has written itself.',
    allows: 'Going back behind what the session has read, effects without their causes.',
    where: 'Reading from the primary after a write; session consistency of replicated stores.',
  },
  {
    id: 'mr',
    promise: 'What rc promises, and a session never goes back behind what it has read.',
    allows: 'Missing one’s own writes, effects without their causes.',
    where: 'Sessions that stay with one replica.',
  },
  {
    id: 'mw',
    promise:
      'What rc promises, and who sees a write of a session goes on to see all that the session wrote before it.',
    allows: 'Missing one’s own writes, going back, replies without the message.',
    where: 'One log of writes for each client or primary, applied in order.',
  },
  {
    id: 'wfr',
    promise:
      'What rc promises, and who sees a write goes on to see whatever its session had read before it.',
    allows: 'Missing one’s own writes, going back, writes of one session out of order.',
    where: 'Stores whose writes wait for what they depend on.',
  },
  {
    id: 'ra',
    promise: 'Of another transaction one sees all or nothing.',
    allows: 'Effects without their causes, lost updates, write skew.',
    where: 'Between READ COMMITTED and snapshots; stores with atomic batches.',
  },
  {
    id: 'cc',
    promise: 'Who sees an effect sees its causes; a session sees what it did before.',
    allows: 'Observers that disagree about the order of independent events, lost updates.',
    where: 'Causal sessions of replicated stores.',
  },
  {
    id: 'pc',
    promise: 'Every transaction reads a state that the database really passed through.',
    allows: 'Lost updates and write skew.',
    where: 'Read-only snapshots beside writers that do not check for conflicts.',
  },
  {
    id: 'psi',
    promise:
      'Who sees an effect sees its causes, and of two that write one key one fails, wherever they run.',
    allows:
      'Long forks, observers that disagree about which of two independent events came first, and write skew.',
    where: 'A primary with replicas that are read, or several sites with snapshots of their own.',
  },
  {
    id: 'si',
    promise: 'Every transaction works on a snapshot, and of two that write one key one fails.',
    allows: 'Write skew: rules over several rows that each checks and both together break.',
    where: 'REPEATABLE READ in PostgreSQL, SERIALIZABLE in Oracle, SNAPSHOT in SQL Server.',
  },
  {
    id: 'strong-si',
    promise:
      'Every transaction works on a snapshot that has all that was committed before it began, and of two that write one key one fails.',
    allows: 'Write skew. Nothing that was acknowledged is ever missed by whoever begins later.',
    where: 'REPEATABLE READ in PostgreSQL on one server; not on its replicas.',
  },
  {
    id: 'ser',
    promise: 'The outcome is one that the transactions could have had one after the other.',
    allows: 'An order that is not that of the clock: what has just been written may be missed.',
    where: 'SERIALIZABLE in PostgreSQL, MariaDB, MySQL, SQL Server and SQLite.',
  },
  {
    id: 'ser+lin',
    promise:
      'One after the other, in an order in which nobody misses what was written to a key before it began to use that key.',
    allows:
      'Of two writes of different keys, seeing the later one and not the earlier one, though the clock says otherwise.',
    where: 'SERIALIZABLE in CockroachDB, by its makers’ word.',
  },
  {
    id: 'sser',
    promise: 'One after the other, in an order that agrees with the clock.',
    allows: 'Nothing that a single machine without concurrency would not show.',
    where: 'Stores that promise strict serializability or external consistency.',
  },
  {
    id: 'lin',
    promise:
      'Whatever is asked for, be it of one key or of several, takes effect at one instant while it runs.',
    allows: 'Nothing that one machine, which does one thing after another, would not show.',
    where:
      'Registers and compare-and-set in etcd, ZooKeeper, lightweight transactions of Cassandra.',
  },
  {
    id: 'stale',
    promise:
      'What was committed longer ago than the bound is seen, or no more versions are missed than the bound says.',
    allows:
      'Anything within the bound: a session may miss what it wrote itself, and see half of another transaction.',
    where:
      'Bounded staleness in Azure Cosmos DB, reads with a maximum staleness in Spanner and CockroachDB, replicas whose lag is watched.',
  },
  {
    id: 'mixed',
    promise: 'Every transaction gets the level that it asked for, whatever the others asked for.',
    allows: 'What the level of each allows that one.',
    where: 'Applications that set a level for each transaction.',
  },
  {
    id: 'pl-1',
    promise: 'Of two transactions that write the same rows, one wins everywhere.',
    allows: 'Reads of what is not committed, or never will be: any read at all.',
    where: 'What Jepsen and Adya call read uncommitted.',
  },
  {
    id: 'pl-2',
    promise: 'Only what was committed is read; no dirty writes, no circular flow of information.',
    allows: 'Going back in time inside one transaction.',
    where: 'What Jepsen and Adya call read committed; weaker than rc here.',
  },
  {
    id: 'pl-cs',
    promise: 'What one reads and then replaces has not changed in between: no update is lost.',
    allows: 'Anything that concerns two keys: half of other transactions, write skew.',
    where: 'Cursor stability, as DB2 has it; READ COMMITTED with SELECT … FOR UPDATE.',
  },
  {
    id: 'pl-2l',
    promise:
      'Within a transaction one never goes back behind what one has seen, nor behind its causes.',
    allows: 'Reads that differ when they are repeated, lost updates, write skew.',
    where: 'What Adya calls monotonic view: statements that each read a newer snapshot.',
  },
  {
    id: 'pl-2+',
    promise: 'What one reads belongs together: nothing is missed that anything read depends on.',
    allows: 'Write skew, and observers that disagree about the order of independent events.',
    where: 'What Adya calls consistent view; parallel snapshot isolation without sessions.',
  },
  {
    id: 'pl-3u',
    promise:
      'Those who write are serializable, and each one who only reads sees a state of theirs.',
    allows: 'Two who only read and disagree about which of two writers came first.',
    where: 'What Adya calls update serializability; replicas that serve queries.',
  },
  {
    id: 'pl-2.99',
    promise: 'As if one after the other, as far as rows are read by their keys.',
    allows: 'Phantoms: rows that appear in what was asked for by a condition.',
    where: 'What Jepsen and Adya call repeatable read: locks on rows until the end.',
  },
  {
    id: 'strong-session-pl-1',
    promise:
      'Of two transactions that write the same rows, one wins everywhere, and what a session writes later wins over what it wrote before.',
    allows: 'Any read at all.',
    where: 'What Elle calls strong session read uncommitted.',
  },
  {
    id: 'strong-session-pl-2',
    promise:
      'Only what was committed is read, and nobody reads what its own session, or one that it read from, does only later.',
    allows: 'Stale reads, also of what the session wrote itself; half of other transactions.',
    where: 'What Elle calls strong session read committed; weaker than rc here.',
  },
  {
    id: 'strong-pl-1',
    promise:
      'Of two transactions that write the same rows, one wins everywhere: the later one, if they did not overlap.',
    allows: 'Any read at all.',
    where: 'What Elle calls strong read uncommitted.',
  },
  {
    id: 'strong-pl-2',
    promise:
      'Only what was committed is read, and nothing before it has begun: reads and writes agree with the clock.',
    allows: 'Stale reads, however old; half of other transactions.',
    where: 'What Elle calls strong read committed; not what rc is here.',
  },
]
