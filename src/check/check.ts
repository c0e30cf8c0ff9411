// Judging a history at one level, at several, at all of Jepsen's models or at all that apply: what
// is asked for is put into an order in which verdicts settle others, and told in the order asked.
// checker.ts decides each. Main functions: check, checkLevels, profile.

import { UsageError } from '../base/errors.ts'
import { type History, hasTimes } from '../history/history.ts'
import { JEPSEN_MODELS, type JepsenModel, weakerModels } from '../levels/jepsen.ts'
import {
  CHAIN,
  implies,
  isAdyaLevel,
  type LevelId,
  type LevelRequest,
  PROFILE,
  takesTime,
  WEAK_LEVELS,
  WITHOUT_TIMES,
} from '../levels/levels.ts'
import type { LevelResult } from '../verdict/verdict.ts'
import { Checker } from './checker.ts'
import { findImplied, settled, strengthened, weakened, withForbidden } from './implied.ts'
import { type CheckOptions, deadlineFor } from './options.ts'
import { isVersionLevel } from './problem/levels.ts'

/** Judges a history at one level. */
export function check(
  history: History,
  level: LevelId | LevelRequest,
  options: CheckOptions = {},
): LevelResult {
  return checkLevels(history, [level], options)[0]!
}

const WEAK: ReadonlySet<LevelId> = new Set(WEAK_LEVELS)

/** Judges a history at several levels, sharing the work. */
export function checkLevels(
  history: History,
  levels: readonly (LevelId | LevelRequest)[],
  options: CheckOptions = {},
): LevelResult[] {
  const deadline = deadlineFor(options)
  const checkers: { checker: Checker; known: LevelResult[] }[] = [] // by the orders that count
  const requests = levels.map((asked) => (typeof asked === 'string' ? { level: asked } : asked))
  for (const request of requests) refuseOrder(request, options)
  const results = new Map<LevelRequest, { result: LevelResult; known: LevelResult[] }>()
  // Of the weak levels the strongest first: one order proves them all. What si shows helps psi.
  const rank = ({ level }: LevelRequest) =>
    level === 'psi' ? 1 : -CHAIN.indexOf(WEAK.has(level) ? level : 'rc')
  let left = requests.length
  for (const request of requests.toSorted((a, b) => rank(a) - rank(b))) {
    deadline.divide(left--)
    const asWished = request.sessionOrder ?? options.sessionOrder ?? true
    const sessionOrder = asWished && !isAdyaLevel(request.level)
    const realTime = (request.realTime ?? options.realTime ?? false) && takesTime(request.level)
    const orders = { ...options, sessionOrder, realTime }
    const place = Number(sessionOrder) + 2 * Number(realTime)
    checkers[place] ??= { checker: new Checker(history, orders, deadline), known: [] }
    const shared = checkers[place]
    const implied = WEAK.has(request.level) ? findImplied(request.level, shared.known) : null
    const result = implied ?? shared.checker.check(request.level, request.bound)
    shared.known.push(result)
    results.set(request, { result, known: shared.known })
  }
  // What ran out of budget may follow from what was judged after it, too.
  return requests.map((request) => {
    const { result, known } = results.get(request)!
    return settled(result, known)
  })
}

/** Throws UsageError for orders that a level does not know. */
function refuseOrder({ level, realTime }: LevelRequest, options: CheckOptions): void {
  if (!isAdyaLevel(level) || !(realTime ?? options.realTime)) return
  const hint = 'strong-pl-1 and strong-pl-2 are pl-1 and pl-2 with session order and real time'
  throw new UsageError(`level ${level} knows no real time`, hint)
}

/** Judges all of Jepsen's models, in their order; what satisfies one satisfies the weaker ones. */
export function checkModels(history: History, options: CheckOptions = {}): LevelResult[] {
  const deadline = deadlineFor(options)
  const [off, on] = [false, true].map(
    (sessionOrder) => new Checker(history, { ...options, sessionOrder, realTime: false }, deadline),
  )
  const known = new Map<JepsenModel, LevelResult>()
  let left = JEPSEN_MODELS.length
  for (const model of JEPSEN_MODELS.toReversed()) {
    deadline.divide(left--)
    const { level: asked, sessionOrder } = model
    // Two names of one level are judged once.
    const same = JEPSEN_MODELS.find(
      (each) => known.has(each) && each.level === asked && each.sessionOrder === sessionOrder,
    )
    const result = known.get(same ?? model) ?? (sessionOrder ? on! : off!).check(asked)
    known.set(model, result)
    if (result.verdict !== 'satisfied') continue
    if (sessionOrder && implies(asked, 'cc')) off!.assumeCausal()
    for (const weaker of weakerModels(model)) {
      if (known.has(weaker)) continue
      const sessionOrder = weaker.sessionOrder ? {} : { sessionOrder: false as const }
      known.set(weaker, { ...weakened(weaker.level, result), ...sessionOrder })
    }
  }
  return JEPSEN_MODELS.map((model) => {
    const result = known.get(model)!
    if (result.verdict !== 'unknown') return result
    // What ran out of budget may be violated as a weaker model is.
    const weaker = weakerModels(model).map((other) => known.get(other)!)
    return strengthened(history, result, weaker.toReversed()) ?? result
  })
}

/**
 * Every level that applies to the history, weakest first. Where a serial order is at hand, ser is
 * judged first and settles all below it; else weak levels come first, which settle more when they
 * are violated, and ser before si before pc.
 */
export function profile(history: History, options: CheckOptions = {}): LevelResult[] {
  const deadline = deadlineFor(options)
  const checker = new Checker(history, options, deadline)
  const plan: LevelId[] = checker.hasSerialOrder()
    ? ['ser', 'sser', 'strong-si', 'si', 'psi', 'pc', 'cc', 'ra', 'rc', 'ci']
    : ['cc', 'ra', 'rc', 'ci', 'ser', 'sser', 'si', 'strong-si', 'psi', 'pc']
  // With real time ser is sser, and si is strong-si.
  const hasStrict = hasTimes(history) && !options.realTime
  const results: LevelResult[] = []
  const applying = plan.filter((level) => !WITHOUT_TIMES[level] || hasStrict)
  let left = applying.length
  for (const level of applying) {
    deadline.divide(left--)
    const implied = findImplied(level, results)
    // A violation that a weaker level shows already must not hide what only this one forbids.
    if (implied?.verdict === 'violated') {
      const own = isVersionLevel(level) ? checker.checkLinearly(level) : null
      results.push(own ?? withForbidden(history, implied, results))
    } else results.push(implied ?? checker.check(level))
  }
  return PROFILE.flatMap((level) => {
    const result = results.find((each) => each.level === level)
    if (!result) return []
    return settled(result, results)
  })
}
