// `isobar/pg`: what an application asks of PostgreSQL through `pg`, recorded as a history.

export type { DriverClient, DriverPool } from './observe/driver.ts'
export type { ClauseRef, Hooks, RowRef, Step, StepKind } from './observe/hooks.ts'
export { type Recorded, record } from './observe/instrument.ts'
export type { LineFileOptions as SaveOptions } from './observe/line-file.ts'
