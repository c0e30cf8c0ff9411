// The test oracle: decides every level straight from its definition, by trying every commit order.
//
// A level holds if all reads are sound and some strict total order co over the transactions that
// take part, with so, wr and the observed list orders inside it, satisfies the level's axiom: for
// every read of x by t3 from t1 and every other writer t2 of x for which the premise holds, t2 is
// before t1. The orders are enumerated one by one and the axiom is tested as it is written; no
// level is derived from another. Shares no code with src/check. Cost: factorial, for up to 7
// transactions. Main functions: decideHistory, decideDraft.

import type { History } from '../../src/history/history.ts'
import type { LevelId, SessionGuarantee } from '../../src/levels/levels.ts'
import { type Draft, draftOf } from './draft.ts'
import { judge, type Situation, settle } from './judge.ts'

export type Verdict = 'satisfied' | 'violated' | 'unknown'

export type OracleLevel = Extract<
  LevelId,
  | 'ci'
  | 'rc'
  | SessionGuarantee
  | 'ra'
  | 'cc'
  | 'pc'
  | 'psi'
  | 'si'
  | 'strong-si'
  | 'ser'
  | 'ser+lin'
  | 'sser'
>

export const ORACLE_LEVELS: readonly OracleLevel[] = [
  'ci',
  'rc',
  'ryw',
  'mr',
  'mw',
  'wfr',
  'ra',
  'cc',
  'pc',
  'psi',
  'si',
  'strong-si',
  'ser',
  'ser+lin',
  'sser',
]

export interface OracleOptions {
  readonly sessionOrder: boolean
  /** Whether real time counts like session order. */
  readonly realTime?: boolean
}

export type Profile = Record<OracleLevel, Verdict>

const WITH_SESSIONS: OracleOptions = { sessionOrder: true }

export function decideHistory(history: History, level: OracleLevel, options = WITH_SESSIONS) {
  return profileOf(draftOf(history).draft, options)[level]
}

export function decideDraft(draft: Draft, level: OracleLevel, options = WITH_SESSIONS): Verdict {
  return profileOf(draft, options)[level]
}

/** The verdict of every level. */
export function profileOf(draft: Draft, options = WITH_SESSIONS): Profile {
  const situation = judge(draft, settle(draft), options)
  return options.realTime ? profileInTime(situation) : profileOfSituation(situation)
}

/** With real time as session order; without times nothing but ci is ever known to hold. */
function profileInTime(situation: Situation): Profile {
  const { so, rt } = situation
  if (rt !== null) {
    return profileOfSituation({ ...situation, so: closure(so.map((mask, t) => mask | rt[t]!)) })
  }
  const profile = profileOfSituation(situation)
  for (const level of ORACLE_LEVELS) {
    if (level !== 'ci' && profile[level] === 'satisfied') profile[level] = 'unknown'
  }
  return profile
}

/**
 * The same by an even more literal reading of `indeterminate`: each such transaction either
 * committed or not, and a level holds if it holds in one of these worlds.
 */
export function profileByOutcomes(draft: Draft, options = WITH_SESSIONS): Profile {
  const txns = draft.sessions.flat()
  const counted = settle({
    ...draft,
    sessions: draft.sessions.map((session) =>
      session.map((txn) =>
        txn.status === 'indeterminate' ? { ...txn, status: 'aborted' as const } : txn,
      ),
    ),
  })
  const open = txns.flatMap((txn, i) => (txn.status === 'indeterminate' ? [i] : []))
  const best = sameForAll('violated')
  for (let world = 0; world < 1 << open.length; world++) {
    const counts = counted.slice()
    open.forEach((txn, bit) => {
      counts[txn] = ((world >> bit) & 1) === 1
    })
    const profile = profileOfSituation(judge(draft, counts, options))
    for (const level of ORACLE_LEVELS) {
      if (profile[level] === 'satisfied') best[level] = 'satisfied'
      else if (profile[level] === 'unknown' && best[level] === 'violated') best[level] = 'unknown'
    }
  }
  return best
}

function profileOfSituation(situation: Situation): Profile {
  if (situation.offences.length > 0) return sameForAll('violated')
  const profile = axiomProfile(situation)
  if (situation.rt === null && profile.ser === 'satisfied') {
    profile.sser = 'unknown'
    profile['ser+lin'] = 'unknown'
  }
  if (situation.rt === null && profile.si === 'satisfied') profile['strong-si'] = 'unknown'
  return profile
}

function sameForAll(verdict: Verdict): Profile {
  return Object.fromEntries(ORACLE_LEVELS.map((level) => [level, verdict])) as Profile
}

/** The axioms alone, on the sound reads; without times sser is left violated. */
export function axiomProfile(situation: Situation): Profile {
  const profile = sameForAll('violated')
  if (isCut(situation)) profile.ci = 'satisfied'
  let open = ORACLE_LEVELS.filter((level) => level !== 'ci' && profile[level] === 'violated')
  const must = situation.so.map((mask, t) => mask | situation.wr[t]! | situation.ww[t]!)
  forEachOrder(must, (before) => {
    open = open.filter((level) => {
      if (!satisfiesAxiom(situation, before, level)) return true
      profile[level] = 'satisfied'
      return false
    })
    return open.length > 0
  })
  return profile
}

/** No transaction reads one key from two different transactions. */
function isCut({ reads }: Situation): boolean {
  return reads.every((a) =>
    reads.every((b) => a.reader !== b.reader || a.key !== b.key || a.from === b.from),
  )
}

/**
 * Visits every total order in which `must[t]` precede t. An order is given as `before[t]`, the set
 * of all that precede t. Stops when `visit` returns false.
 */
export function forEachOrder(
  must: readonly number[],
  visit: (before: readonly number[]) => boolean,
): void {
  const count = must.length
  const all = (1 << count) - 1
  const before = new Array<number>(count).fill(0)
  const extend = (placed: number): boolean => {
    if (placed === all) return visit(before)
    for (let t = 0; t < count; t++) {
      if ((placed >> t) & 1 || (must[t]! & placed) !== must[t]!) continue
      before[t] = placed
      if (!extend(placed | (1 << t))) return false
    }
    return true
  }
  extend(0)
}

/** The axiom of a level under one commit order. */
export function satisfiesAxiom(
  situation: Situation,
  before: readonly number[],
  level: OracleLevel,
): boolean {
  const { rt } = situation
  if (level === 'sser' || level === 'strong-si') {
    if (rt === null || rt.some((mask, t) => (mask & before[t]!) !== mask)) return false
  }
  if (level === 'ser+lin') {
    const isKept = (mask: number, t: number) => (mask & sharers(situation, t) & ~before[t]!) === 0
    if (rt === null || !rt.every(isKept)) return false
  }
  return situation.reads.every((_, read) => satisfiesRead(situation, before, level, read))
}

/** The axiom for one read. */
function satisfiesRead(
  situation: Situation,
  before: readonly number[],
  level: OracleLevel,
  read: number,
): boolean {
  const { reader: t3, from: t1, key } = situation.reads[read]!
  const others = situation.writers.get(key)! & ~(1 << t1) & ~(1 << t3)
  return (others & premiseOf(situation, before, level, read) & ~before[t1]!) === 0
}

/** The levels that single transactions may have. */
const OWN = ['rc', 'ra', 'cc', 'pc', 'si', 'ser'] as const
export type OwnLevel = (typeof OWN)[number]

/**
 * Says whether one commit order satisfies the axiom of each reader's own level, reads that offend
 * left out. Every order is tried once, and what each reader's reads satisfy in it is remembered.
 *
 * @returns levels: transaction of the draft, counted through all sessions -> level
 */
export function mixedOracle(draft: Draft): (levels: readonly OwnLevel[]) => boolean {
  const situation = judge(draft, settle(draft), WITH_SESSIONS)
  const { so, wr, ww, reads, txnOf } = situation
  const known = new Map<string, readonly number[]>() // what an order satisfies: txn -> bits of OWN
  forEachOrder(
    so.map((mask, t) => mask | wr[t]! | ww[t]!),
    (before) => {
      const fits = txnOf.map(() => (1 << OWN.length) - 1)
      reads.forEach(({ reader }, read) => {
        OWN.forEach((level, bit) => {
          const holds = satisfiesRead(situation, before, level, read)
          if (!holds) fits[txnOf.indexOf(reader)]! &= ~(1 << bit)
        })
      })
      known.set(fits.join(), fits)
      return true
    },
  )
  return (levels) =>
    [...known.values()].some((fits) =>
      levels.every((level, txn) => (fits[txn]! >> OWN.indexOf(level)) & 1),
    )
}

/** Whether no read offends. */
export function isSound(draft: Draft): boolean {
  return judge(draft, settle(draft), WITH_SESSIONS).offences.length === 0
}

/** All t2 for which the premise holds for the read. */
function premiseOf(
  situation: Situation,
  before: readonly number[],
  level: OracleLevel,
  read: number,
): number {
  const { so, wr } = situation
  const t3 = situation.reads[read]!.reader
  switch (level) {
    case 'rc':
      return readBefore(situation, read)
    case 'ryw':
      return readBefore(situation, read) | so[t3]!
    case 'mr':
      return readBefore(situation, read) | among(so[t3]!, (t4) => wr[t4]!)
    case 'mw': {
      const seen = readBefore(situation, read)
      return seen | among(seen, (t4) => so[t4]!)
    }
    case 'wfr': {
      const seen = readBefore(situation, read)
      const causes = seen | among(seen, (t4) => happensBefore(situation)[t4]!)
      return seen | among(causes, (t4) => wr[t4]!)
    }
    case 'ra':
      return so[t3]! | wr[t3]!
    case 'cc':
      return happensBefore(situation)[t3]!
    case 'psi':
      return parallelPast(situation, before)[t3]!
    case 'pc':
      return upTo(before, so[t3]! | wr[t3]!)
    case 'strong-si': {
      const past = so[t3]! | wr[t3]! | situation.rt![t3]!
      return upTo(before, past) | upTo(before, before[t3]! & rivals(situation, t3))
    }
    case 'si':
      return upTo(before, so[t3]! | wr[t3]!) | upTo(before, before[t3]! & rivals(situation, t3))
    case 'ser':
    case 'ser+lin':
    case 'sser':
      return before[t3]!
    case 'ci':
      throw new Error('cut isolation has no commit order')
  }
}

/** Whom the transaction of a read had read from before it. */
function readBefore({ reads }: Situation, read: number): number {
  let mask = 0
  for (let i = 0; i < read; i++) {
    if (reads[i]!.reader === reads[read]!.reader) mask |= 1 << reads[i]!.from
  }
  return mask
}

/** What a relation says of any of these transactions. */
function among(txns: number, relation: (txn: number) => number): number {
  let mask = 0
  for (let t = 0; txns >> t; t++) if ((txns >> t) & 1) mask |= relation(t)
  return mask
}

/** txn -> all before it in so, wr, and the commit order of those who write a common key. */
function parallelPast(situation: Situation, before: readonly number[]): number[] {
  const { so, wr } = situation
  return closure(before.map((mask, t) => so[t]! | wr[t]! | (mask & rivals(situation, t))))
}

/** The given transactions and all that precede one of them. */
function upTo(before: readonly number[], txns: number): number {
  let mask = txns
  for (let t = 0; t < before.length; t++) if ((txns >> t) & 1) mask |= before[t]!
  return mask
}

/** Who uses some key that t uses. */
function sharers({ users }: Situation, t: number): number {
  let mask = 0
  for (const txns of users.values()) if ((txns >> t) & 1) mask |= txns
  return mask
}

/** Who writes some key that t writes. */
function rivals(situation: Situation, t: number): number {
  let mask = 0
  for (const writers of situation.writers.values()) if ((writers >> t) & 1) mask |= writers
  return mask
}

const happensBeforeOf = new WeakMap<Situation, number[]>()

/** txn -> all that happen before it: the transitive closure of so and wr. */
export function happensBefore(situation: Situation): number[] {
  let known = happensBeforeOf.get(situation)
  if (!known) {
    known = closure(situation.so.map((mask, t) => mask | situation.wr[t]!))
    happensBeforeOf.set(situation, known)
  }
  return known
}

/** The transitive closure of a relation given as t -> predecessors. */
export function closure(relation: readonly number[]): number[] {
  const closed = relation.slice()
  for (let via = 0; via < closed.length; via++) {
    for (let t = 0; t < closed.length; t++) {
      if ((closed[t]! >> via) & 1) closed[t]! |= closed[via]!
    }
  }
  return closed
}

export function isAcyclic(relation: readonly number[]): boolean {
  return closure(relation).every((mask, t) => ((mask >> t) & 1) === 0)
}
