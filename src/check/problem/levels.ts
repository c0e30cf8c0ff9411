// The levels of single transactions as the deciders know them: numbers, the weakest first.

import type { TimeScope } from '../../history/history.ts'
import type { LevelId } from '../../levels/levels.ts'

/** RC_SQL, unlike RC, also sees session order, and the other rows of a statement. */
export const RC = 0
export const RC_SQL = 1
export const RA = 2
export const CC = 3
export const PC = 4
export const SI = 5
export const SER = 6

const IN_TIME = { 'strong-si': 'all', sser: 'all', 'ser+lin': 'by-key' } as const

/** Levels at which all transactions see snapshots; sser is SER in real time. */
export type StrongLevel = Extract<LevelId, 'pc' | 'si' | 'ser' | 'sser'>

/** The same, and those in real time that general engines know as levels with more session order. */
export type VersionLevel = StrongLevel | keyof typeof IN_TIME

export function isVersionLevel(level: LevelId): level is VersionLevel {
  return isTimed(level) || Object.hasOwn(STRONG, level)
}

/** Whether transactions have snapshots apart from their commits. */
export function hasSnapshots(level: VersionLevel): boolean {
  return level !== 'ser' && level !== 'sser' && level !== 'ser+lin'
}

/** Whether two that write a common key must not overlap. */
export function isExclusive(level: VersionLevel): boolean {
  return level === 'si' || level === 'strong-si'
}

/** How much of real time counts, if any does. */
export function timeScopeOf(level: VersionLevel): TimeScope | null {
  return isTimed(level) ? IN_TIME[level] : null
}

function isTimed(level: LevelId): level is keyof typeof IN_TIME {
  return Object.hasOwn(IN_TIME, level)
}

export const STRONG: Readonly<Record<StrongLevel, number>> = { pc: PC, si: SI, ser: SER, sser: SER }
