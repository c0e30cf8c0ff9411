// The levels of single transactions as the deciders know them: numbers, the weakest first.

import type { LevelId } from '../../levels/levels.ts'

/** RC_SQL, unlike RC, also sees session order, and the other rows of a statement. */
export const RC = 0
export const RC_SQL = 1
export const RA = 2
export const CC = 3
export const PC = 4
export const SI = 5
export const SER = 6

/** Levels at which all transactions see snapshots; sser is SER in real time. */
export type StrongLevel = Extract<LevelId, 'pc' | 'si' | 'ser' | 'sser'>

/** The same, and snapshots in real time, which general engines know as si with more session order. */
export type VersionLevel = StrongLevel | 'strong-si'

export function isVersionLevel(level: LevelId): level is VersionLevel {
  return level === 'strong-si' || Object.hasOwn(STRONG, level)
}

/** Whether transactions have snapshots apart from their commits. */
export function hasSnapshots(level: VersionLevel): boolean {
  return level !== 'ser' && level !== 'sser'
}

/** Whether two that write a common key must not overlap. */
export function isExclusive(level: VersionLevel): boolean {
  return level === 'si' || level === 'strong-si'
}

/** Whether real time counts. */
export function isTimedLevel(level: VersionLevel): boolean {
  return level === 'sser' || level === 'strong-si'
}

export const STRONG: Readonly<Record<StrongLevel, number>> = { pc: PC, si: SI, ser: SER, sser: SER }
