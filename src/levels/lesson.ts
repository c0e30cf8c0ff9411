// What a history that teaches something is told with, and sentences that several of them share.

import type { AnomalyName } from './anomalies.ts'
import type { Script } from './glossary-scripts.ts'
import type { LevelId } from './levels.ts'

/** What there is to tell of a history that teaches something. */
export interface Lesson {
  /** In notation, or, with statements, in the native format. */
  readonly history: string
  /** The level to judge, where a weaker one would give it another name; else the profile. */
  readonly level?: LevelId
  readonly sql: Script
  /** What goes wrong for an application. */
  readonly harm: string
  /** Which databases and settings let it happen. */
  readonly where: string
  readonly cure: string
}

export interface AnomalyEntry extends Lesson {
  readonly name: AnomalyName
}

export const BUG =
  'No level of any database allows it: it is a bug of the database, of a proxy or cache in front of it, or of the recording.'
export const REPORT_BUG = 'Report it to the makers of the database, with the history.'
export const UNCOMMITTED =
  'READ UNCOMMITTED where a database has it (MariaDB, MySQL, SQL Server, Db2).'
export const NOT_UNCOMMITTED = 'Ask for READ COMMITTED or more.'
export const FRACTURED = 'READ COMMITTED, the default of PostgreSQL, Oracle and SQL Server.'
export const ONE_SNAPSHOT =
  'Read what belongs together in one statement, or ask for a level with snapshots: REPEATABLE READ in PostgreSQL, SNAPSHOT in SQL Server.'
export const REPLICAS = 'Replicas that are read while they lag, or several primaries.'
export const STICKY =
  'Send a session to one replica, or pass on what it has seen: causal tokens, or waiting for a log position.'
export const SNAPSHOTS =
  'Snapshot levels: REPEATABLE READ in PostgreSQL, SERIALIZABLE in Oracle, SNAPSHOT in SQL Server; and all below.'
export const SERIALIZABLE =
  'Ask for SERIALIZABLE and retry what it refuses; or lock what a decision rests on (SELECT … FOR UPDATE), or let a constraint say it.'
