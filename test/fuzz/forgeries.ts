// Whether the certifier can be deceived: hundreds of forged verdicts on each small history, whose
// true verdicts brute force knows. One property for each kind of history: registers, lists,
// lightweight transactions, SQL.

import { InputError } from '../../src/base/errors.ts'
import { Random } from '../../src/base/random.ts'
import { checkLevels } from '../../src/check/check.ts'
import { checkMixed } from '../../src/check/mixed/check-mixed.ts'
import { withRolledBack } from '../../src/history/counts.ts'
import { type History, hasTimes } from '../../src/history/history.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import {
  ADYA_LEVELS,
  isAdyaLevel,
  type LevelId,
  type LevelRequest,
  takesTime,
  timedForm,
  WITHOUT_TIMES,
} from '../../src/levels/levels.ts'
import { findUntrue } from '../../src/report/verify-file.ts'
import { certifyMixed } from '../../src/verdict/certify-mixed.ts'
import { certifyPlain } from '../../src/verdict/certify-plain.ts'
import { knowsSessions } from '../../src/verdict/level-rules.ts'
import { resolveResults } from '../../src/verdict/resolve-file.ts'
import type { LevelResult } from '../../src/verdict/verdict.ts'
import {
  type AdyaProfile,
  adyaProfile,
  isOrdered,
  ORDERED_LEVELS,
  orderedProfile,
} from '../small/adya.ts'
import { levelsOf, MIXES } from '../small/compare-sql.ts'
import { buildHistory, type Draft, type DraftOp, type DraftTxn, draftOf } from '../small/draft.ts'
import { judge, settle } from '../small/judge.ts'
import { buildLightHistory, isLinearizable, randomLightOps } from '../small/linearizer.ts'
import {
  ORACLE_LEVELS,
  type OracleOptions,
  type Profile,
  profileOf,
  type Verdict,
} from '../small/oracle.ts'
import { type RandomShape, randomHistory, shapeOf } from '../small/random-history.ts'
import { randomSql } from '../small/random-sql.ts'
import { historyOfSql, renderSql } from '../small/sql-draft.ts'
import { SqlOracle } from '../small/sql-oracle.ts'
import { stalenessOf } from '../small/staleness.ts'
import { readFile, writeFile } from '../verdict/through-file.ts'
import { swapParts } from './damage-verdict.ts'
import { forge } from './forge.ts'
import type { Property } from './property.ts'

/** Forged verdicts on each history. */
const FORGERIES = 200

type Certify = (history: History, claim: LevelResult) => readonly string[]

/** A history, its true verdicts with evidence, and what brute force says of any claim. */
interface Subject {
  readonly history: History
  readonly results: readonly LevelResult[]
  /** Evidence of the same transactions that need not be true of the history. */
  readonly doubtful?: readonly LevelResult[]
  /** Null: not for this oracle to say. */
  readonly truth: (claim: LevelResult) => Verdict | null
  readonly text: () => string
}

/** Histories whose evidence is grafted onto others. */
const DONORS = [1, 2, 3, 4, 5, 6, 7, 8]

/** @param certify what is to be deceived; the certifier unless told */
function withstands(
  name: string,
  make: (seed: number) => Subject,
  certify: Certify = problemsOf,
): Property {
  let donors: LevelResult[] | null = null
  let [tried, accepted] = [0, 0]
  const told = () => `${tried} forged, ${accepted} of them true and accepted`
  const run = (seed: number) => {
    donors ??= DONORS.flatMap((donor) => make(donor).results)
    const { history, results, doubtful = [], truth, text } = make(seed)
    const random = new Random(seed ^ 0xf0f0)
    const strange = [random.pick(donors), random.pick(donors)]
    const pool = [...results, ...results, ...doubtful, ...strange]
    for (let i = 0; i < FORGERIES; i++) {
      const claim = forge(random, history, pool)
      if (claim.verdict === 'unknown') continue
      tried++
      if (certify(history, claim).length > 0) continue
      accepted++
      const verdict = truth(claim)
      if (verdict === null || verdict === claim.verdict) continue
      const what = `${claim.level} is ${verdict}, but ${claim.verdict} was certified`
      return `${what}\n${text()}\n${JSON.stringify(claim)}`
    }
    return null
  }
  return { name, run, told }
}

function problemsOf(history: History, claim: LevelResult): string[] {
  const needsSql = history.sql !== null || claim.level === 'mixed'
  return (needsSql ? certifyMixed : certifyPlain)(history, claim).problems
}

function plainSubject(draft: Draft, light: boolean | null): Subject {
  const history = buildHistory(draft)
  const results = judgePlain(history)
  // Times that nobody knows forbid nothing; what needs them is then never known to hold.
  const timed = withAllTimes(draft)
  const isTimeless = judge(draft, settle(draft), { sessionOrder: true }).rt === null
  const profiles = new Map<string, Profile>()
  const profileBy = (options: OracleOptions): Profile => {
    const id = JSON.stringify(options)
    const profile = profiles.get(id) ?? profileOf(timed, options)
    profiles.set(id, profile)
    return profile
  }
  let lazyAdya: AdyaProfile | null = null
  const adya = () => {
    lazyAdya ??= adyaProfile(draft)
    return lazyAdya
  }
  const decide = ({ level, ...claim }: LevelResult): Verdict | null => {
    const sessionOrder = claim.sessionOrder !== false
    const realTime = claim.realTime === true
    if (isAdyaLevel(level)) return realTime ? 'unknown' : adya()[level] ? 'satisfied' : 'violated'
    const form = (realTime && timedForm(level)) || level
    if (isOrdered(form)) return orderedProfile(timed, sessionOrder)[form]
    if (level === 'lin') {
      if (light === null) return profileBy({ sessionOrder: false, realTime: false }).sser
      return light ? 'satisfied' : 'violated'
    }
    // Nobody recorded levels here.
    if (level === 'mixed' || isOrdered(level)) return 'unknown'
    if (level === 'stale') return staleVerdict(timed, sessionOrder, claim.bound)
    return profileBy({ sessionOrder: sessionOrder || !knowsSessions(level), realTime })[level]
  }
  const truth = (claim: LevelResult): Verdict | null => {
    const { level, realTime } = claim
    const isTimed = level === 'lin' || WITHOUT_TIMES[level] !== undefined
    const needsTimes = (realTime && takesTime(level)) || isTimed
    const verdict = decide(claim)
    return needsTimes && isTimeless && verdict === 'satisfied' ? 'unknown' : verdict
  }
  return { history, results, truth, text: () => renderNotation(history) }
}

/** Without a unit of times nothing is known of a bound by time. */
function staleVerdict(draft: Draft, sessionOrder: boolean, bound = 'any'): Verdict {
  const staleness = stalenessOf(draft, sessionOrder)
  if (staleness === null) return 'violated'
  if (staleness === 'unknown' || bound === 'any') return 'satisfied'
  if (!/^\d+$/.test(bound)) return 'unknown'
  return staleness.versions > Number(bound) ? 'violated' : 'satisfied'
}

function judgePlain(history: History): LevelResult[] {
  const requests: LevelRequest[] = ORACLE_LEVELS.flatMap((level) => [
    { level },
    { level, sessionOrder: false },
    { level, realTime: true },
  ])
  const stale: LevelRequest[] = [
    { level: 'stale' },
    { level: 'stale', bound: '0' },
    { level: 'stale', bound: '1', sessionOrder: false },
  ]
  const others = [...ADYA_LEVELS, ...ORDERED_LEVELS, 'lin' as const]
  return checkLevels(history, [...requests, ...others, ...stale])
}

const mapTxns = (draft: Draft, change: (txn: DraftTxn) => DraftTxn): Draft => ({
  ...draft,
  sessions: draft.sessions.map((txns) => txns.map(change)),
})

/** Whatever may have happened at any time may have gone on all the time. */
function withAllTimes(draft: Draft): Draft {
  return mapTxns(draft, (txn) => ({ start: -Infinity, finish: Infinity, ...txn }))
}

/** Now and then some of the times are missing. */
function withoutSomeTimes(draft: Draft, random: Random): Draft {
  if (random.chance(0.5)) return draft
  return mapTxns(draft, (txn) => {
    const { start, finish, ...rest } = txn
    if (!random.chance(0.3)) return txn
    if (random.chance(0.5)) return rest
    return { ...rest, ...(random.chance(0.5) ? { start } : { finish }) } as DraftTxn
  })
}

/** Short writers of single keys, and long readers that only the clock contradicts. */
function clockDraft(seed: number): Draft {
  const random = new Random(seed)
  const write = (key: string): DraftOp => ({ kind: 'w', key, value: 1 })
  const read = (key: string): DraftOp => ({ kind: 'r', key, value: random.below(2) })
  const reader = (): DraftOp[] => (random.chance(0.5) ? [read('x'), read('y')] : [read('y')])
  const txn = (ops: DraftOp[], length: number): DraftTxn => {
    const start = random.below(8)
    return { ops, status: 'committed', start, finish: start + random.below(length) }
  }
  const writers = ['x', 'y'].map((key) => [txn([write(key)], 2)])
  const readers = Array.from({ length: 2 }, () => [txn(reader(), 9)])
  return { sessions: [...writers, ...readers], initial: 0 }
}

/** As told, or with some of the times missing. */
function subjectOf(seed: number, complete: Draft): Subject {
  const draft = withoutSomeTimes(complete, new Random(seed ^ 0x71e5))
  const subject = plainSubject(draft, null)
  const doubtful = draft === complete ? [] : judgePlain(buildHistory(complete))
  return { ...subject, doubtful }
}

const ofShape =
  (fixed: Partial<RandomShape>) =>
  (seed: number): Subject =>
    subjectOf(seed, randomHistory(seed, shapeOf(seed, fixed)))

const timedSubject = (seed: number): Subject => subjectOf(seed, clockDraft(seed))

function lightSubject(seed: number): Subject {
  const ops = randomLightOps(seed)
  const history = buildLightHistory(ops)
  const subject = plainSubject(draftOf(history).draft, isLinearizable(ops))
  const results = checkLevels(history, ['lin'])
  return { ...subject, results: [...subject.results, ...results, ...results] }
}

function sqlSubject(seed: number): Subject {
  const draft = randomSql(seed)
  const history = historyOfSql(draft)
  const [judged, ignored] = [true, false].map((judges) => new SqlOracle(history, judges))
  const known = new Map<string, Verdict>()
  const truth = ({ level, sessionOrder, abortedReads }: LevelResult): Verdict => {
    // These histories have no times: sser is violated if ser is, and else unknown.
    const isTimed = level === 'sser'
    const counted = abortedReads === 'ignore' ? history : withRolledBack(history)
    const mix = MIXES.find((mix) => mix === (isTimed ? 'ser' : (level as LevelId)))
    if (mix === undefined || sessionOrder === false) return 'unknown'
    const oracle = abortedReads === 'ignore' ? ignored! : judged!
    const id = `${mix} ${abortedReads}`
    const verdict =
      known.get(id) ?? (oracle.decide(levelsOf(draft, mix)).consistent ? 'satisfied' : 'violated')
    known.set(id, verdict)
    const isOpen = isTimed && !hasTimes(counted)
    return isOpen && verdict === 'satisfied' ? 'unknown' : verdict
  }
  const results = [
    ...checkMixed(history, MIXES),
    ...checkMixed(history, MIXES, { abortedReads: 'ignore' }),
  ]
  return { history, results, truth, text: () => renderSql(draft) }
}

/** Forged files on each history. */
const FORGED_FILES = 40

/** True files are believed; whatever is believed of others is true. */
function withstandsFiles(): Property {
  let [tried, accepted] = [0, 0]
  const told = () => `${tried} forged, ${accepted} of them true and accepted`
  const registers = ofShape({ txns: 5 })
  const run = (seed: number) => {
    const { history, results, truth, text } = (seed % 2 ? registers : sqlSubject)(seed)
    const random = new Random(seed ^ 0xf1f1)
    const known = results.filter(({ verdict }) => verdict !== 'unknown')
    const written = writeFile(history, random.chance(0.5) ? known : [random.pick(known)])
    const denied = refusalOf(history, written)
    if (denied !== null) return `a true file is refused: ${denied}\n${text()}\n${written}`
    for (let i = 0; i < FORGED_FILES; i++) {
      const forged = swapParts(JSON.parse(written), random)
      tried++
      if (refusalOf(history, forged) !== null) continue
      accepted++
      for (const claim of resolveResults(history, readFile(forged))) {
        const verdict = truth(claim)
        if (claim.verdict === 'unknown' || verdict === null || verdict === claim.verdict) continue
        return `${claim.level} is ${verdict}, but ${claim.verdict} was verified\n${text()}\n${forged}`
      }
    }
    return null
  }
  return { name: 'forged-files', run, told }
}

/** Why `isobar verify` would not believe a file; null if it would. */
function refusalOf(history: History, text: string): string | null {
  try {
    const file = readFile(text)
    const results = resolveResults(history, file)
    const problems = results.flatMap((result) => problemsOf(history, result))
    return problems[0] ?? findUntrue(history, file, results).flat()[0] ?? null
  } catch (error) {
    if (error instanceof InputError) return error.message
    throw error
  }
}

export const FORGERS: readonly Property[] = [
  withstands('forged-registers', ofShape({ txns: 5 })),
  withstands('forged-lists', ofShape({ txns: 5, lists: 0.8 })),
  withstands('forged-times', timedSubject),
  withstands('forged-lightweight', lightSubject),
  withstands('forged-sql', sqlSubject),
  withstandsFiles(),
]

/** The same against a certifier of registers that is not what it should be. */
export function againstCertifier(certify: Certify): Property {
  return withstands('forged-registers', ofShape({ txns: 5, aborted: 0.4, wild: 0.15 }), certify)
}
