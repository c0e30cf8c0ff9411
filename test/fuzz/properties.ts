// Everything the fuzzer tries, one property after another: brute force, simulated stores with and
// without faults, changes that change nothing, histories put together, all deciders, the order of
// the levels, parts of histories, formats, damaged bytes.

import { InputError } from '../../src/base/errors.ts'
import { Random } from '../../src/base/random.ts'
import { check, profile } from '../../src/check/check.ts'
import { FORMATS } from '../../src/formats/formats.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import { CHAIN, implies, type LevelId } from '../../src/levels/levels.ts'
import { FAULTS, forbids } from '../../src/sim/faults.ts'
import { certifyPlain } from '../../src/verdict/certify-plain.ts'
import { shrinkHistory } from '../../src/verdict/shrink.ts'
import { bySession } from '../formats/histories.ts'
import { load, mutate, save } from '../formats/storage.ts'
import { subHistory } from '../history/sub-history.ts'
import { buildAtomicHistory, isAtomic, randomAtomicTxns } from '../small/atomic.ts'
import { buildHistory, cuts, draftOf } from '../small/draft.ts'
import { buildLightHistory, isLinearizable, randomLightOps } from '../small/linearizer.ts'
import { throughFile } from '../verdict/through-file.ts'
import { ARGUMENTS } from './arguments.ts'
import { BRUTE_FORCE } from './brute-force.ts'
import { DAMAGE } from './damage.ts'
import { DAMAGED_VERDICT } from './damage-verdict.ts'
import { FORGERS } from './forgeries.ts'
import { anyHistory, simulated } from './histories.ts'
import { METAMORPHIC } from './metamorphic.ts'
import { NAMES } from './names.ts'
import type { Judge, Property } from './property.ts'
import { SQL_PARTS } from './sql-parts.ts'
import { COMPONENTS, DECIDERS } from './strong.ts'

function judgesLightweight(seed: number): string | null {
  const ops = randomLightOps(seed)
  const history = buildLightHistory(ops)
  const truth = isLinearizable(ops) ? 'satisfied' : 'violated'
  const { verdict } = check(history, 'lin')
  return verdict === truth ? null : `lin is ${verdict}, not ${truth}\n${renderNotation(history)}`
}

function judgesAtomic(seed: number): string | null {
  const txns = randomAtomicTxns(seed)
  const history = buildAtomicHistory(txns)
  const truth = isAtomic(txns) ? 'satisfied' : 'violated'
  const { verdict } = check(history, 'lin')
  return verdict === truth ? null : `lin is ${verdict}, not ${truth}\n${renderNotation(history)}`
}

function acceptsStores(seed: number, judge: Judge): string | null {
  const level = new Random(seed).pick(CHAIN)
  const { history } = simulated(seed, level, null)
  for (const { level: judged, verdict } of judge(history)) {
    if (!implies(level, judged) || verdict === 'satisfied') continue
    return `a store of level ${level}: ${judged} is ${verdict}\n${renderNotation(history)}`
  }
  return null
}

function findsFaults(seed: number, judge: Judge): string | null {
  const random = new Random(seed)
  const fault = random.pick(FAULTS)
  const level = random.chance(0.5) ? 'sser' : random.pick(CHAIN)
  const { history, shape, strikes } = simulated(seed, level, fault)
  if (strikes.length === 0) return `${fault.name} did not strike`
  const onLists = shape === 'append'
  const { forbiddenFrom, breaksCut } = (onLists && fault.onLists) || fault
  for (const { level: judged, verdict } of judge(history)) {
    const isCut = judged === 'ci'
    const forbidden = forbids(judged, fault, onLists)
    // Levels beside the chain may or may not forbid what one of the chain is the first to forbid.
    const last = CHAIN[CHAIN.indexOf(forbiddenFrom) - 1]
    const allowed = isCut ? !breaksCut : last !== undefined && implies(last, judged)
    const wanted = forbidden ? 'violated' : 'satisfied'
    // A store weaker than the judged level may break it without any fault.
    if (verdict === wanted || !(forbidden || (allowed && implies(level, judged)))) continue
    const what = `${fault.name} (${shape}) in a store of level ${level}: ${judged}`
    return `${what} is ${verdict}, not ${wanted}\n${renderNotation(history)}`
  }
  return null
}

/** A weaker level never fails where a stronger one holds, and a profile says what its levels do. */
function keepsHierarchy(seed: number, judge: Judge): string | null {
  const history = anyHistory(seed)
  const verdicts = new Map(judge(history).map(({ level, verdict }) => [level, verdict]))
  const pairs = CHAIN.slice(1).map((strong, i): [LevelId, LevelId] => [strong, CHAIN[i]!])
  pairs.push(['ra', 'ci'])
  const wrong = pairs.find(
    ([strong, weak]) => verdicts.get(strong) === 'satisfied' && verdicts.get(weak) !== 'satisfied',
  )
  if (wrong) return `${wrong[0]} holds and ${wrong[1]} does not\n${renderNotation(history)}`
  for (const { level, verdict } of profile(history)) {
    if (verdicts.get(level) === verdict) continue
    return `${level} is ${verdict} in the profile only\n${renderNotation(history)}`
  }
  return null
}

/** What the whole satisfies its parts do, and a shrunk history has nothing that could go. */
async function keepsParts(seed: number, judge: Judge): Promise<string | null> {
  const history = anyHistory(seed)
  const random = new Random(seed ^ 0x9a27)
  const share = random.pick([0.3, 0.7, 0.95])
  const ops = Array.from({ length: history.opCount }, (_, op) => op)
  const part = subHistory(
    history,
    ops.filter(() => random.chance(share)),
  )
  const [all, some] = [judge(history), judge(part)]
  const wrong = all.find(
    ({ verdict }, i) => verdict === 'satisfied' && some[i]!.verdict === 'violated',
  )
  const texts = () => `${renderNotation(history)}\n${renderNotation(part)}`
  if (wrong) return `${wrong.level} holds in the whole and not in its part\n${texts()}`
  const violated = all.filter(({ verdict }) => verdict === 'violated')
  if (violated.length === 0) return null
  const { level } = random.pick(violated)
  const { history: shrunk } = await shrinkHistory(history, (part) => check(part, level))
  for (const smaller of cuts(draftOf(shrunk).draft)) {
    const left = buildHistory(smaller)
    if (check(left, level).verdict !== 'violated') continue
    const [was, is] = [renderNotation(shrunk), renderNotation(left)]
    return `${level}: a shrunk history can shrink\n${was}\n${is}`
  }
  return null
}

/** What a format can hold comes back, what it cannot leaves something readable. */
function bringsBack(seed: number): string | null {
  const history = anyHistory(seed)
  const format = new Random(seed).pick(FORMATS)
  const holds = format.misfits(history).length === 0
  const back = load(format, save(format, history), 1 + (seed % 97))
  // Jepsen's times are indices of events, of the same order.
  if (!holds || format.id.startsWith('jepsen')) return null
  const [was, is] = [bySession(history, history), bySession(back, history)].map((l) => l.join('\n'))
  return was === is ? null : `${format.id}:\n${was}\n\ncame back as\n\n${is}`
}

/** Damaged bytes are bad input at worst. */
function survivesDamage(seed: number): string | null {
  const random = new Random(seed)
  const format = random.pick(FORMATS)
  const files = save(format, anyHistory(seed))
  for (const [name, bytes] of files) {
    const edits = Array.from({ length: 1 + random.below(3) }, () => {
      const [at, byte, way] = [1 << 16, 256, 3].map((bound) => random.below(bound))
      return [at!, byte!, way!] as const
    })
    files.set(name, mutate(bytes, edits))
  }
  try {
    load(format, files, 1 + random.below(99))
  } catch (error) {
    if (!(error instanceof InputError)) throw error
  }
  return null
}

/** Evidence written to a file proves the same when read back. */
function keepsCertificates(seed: number, judge: Judge): string | null {
  const history = anyHistory(seed)
  for (const result of throughFile(history, judge(history))) {
    const [problem] = certifyPlain(history, result).problems
    if (problem) return `${result.level}: ${problem}\n${renderNotation(history)}`
  }
  return null
}

export const PROPERTIES: readonly Property[] = [
  ...BRUTE_FORCE,
  { name: 'lightweight', run: judgesLightweight },
  { name: 'atomic', run: judgesAtomic },
  { name: 'stores', run: acceptsStores },
  { name: 'faults', run: findsFaults },
  METAMORPHIC,
  COMPONENTS,
  DECIDERS,
  { name: 'hierarchy', run: keepsHierarchy },
  { name: 'parts', run: keepsParts },
  SQL_PARTS,
  { name: 'formats', run: bringsBack },
  { name: 'bytes', run: survivesDamage },
  { name: 'certificates', run: keepsCertificates },
  ...FORGERS,
  ...DAMAGE,
  DAMAGED_VERDICT,
  ARGUMENTS,
  NAMES,
]
