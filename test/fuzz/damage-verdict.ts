// Verdicts that somebody damaged: whatever a file says, a report is made of it, or an error says
// what is wrong with it.

import { InputError, UsageError } from '../../src/base/errors.ts'
import { stringify } from '../../src/base/json.ts'
import { Random } from '../../src/base/random.ts'
import { describeVerdict } from '../../src/report/describe-verdict.ts'
import { parseVerdicts } from '../../src/verdict/parse-file.ts'
import { judgeAll, showVerdict } from './damage.ts'
import { anyBase, damage } from './mutations.ts'
import type { Property } from './property.ts'

function survivesVerdict(seed: number): string | null {
  const random = new Random(seed)
  const history = anyBase(random, seed)
  const context = { path: 'h', format: 'native', parseMs: 0, all: true }
  try {
    const json = stringify(describeVerdict(history, judgeAll(history), context))
    const damaged = random.chance(0.5) ? swapParts(JSON.parse(json), random) : json
    const files = damage(new Map([['', new TextEncoder().encode(damaged)]]), random)
    return showVerdict(parseVerdicts(new TextDecoder().decode(files.get('')))[0]!.verdict)
  } catch (error) {
    // Some histories cannot be judged, and most damage is noticed.
    if (error instanceof InputError || error instanceof UsageError) return null
    throw error
  }
}

export type Parts = { [name: string]: unknown } | unknown[]

/** Puts some part of the verdict in the place of another, of the same name where there is one. */
export function swapParts(verdict: Parts, random: Random): string {
  const places: [Parts, string][] = []
  const pending: Parts[] = [verdict]
  for (let parts = pending.pop(); parts; parts = pending.pop()) {
    for (const [name, part] of Object.entries(parts)) {
      places.push([parts, name])
      if (typeof part === 'object' && part !== null) pending.push(part as Parts)
    }
  }
  for (let swaps = 1 + random.below(3); swaps > 0; swaps--) {
    const [parts, name] = random.pick(places)
    const alike = places.filter(([, other]) => other === name)
    const [from, at] = random.pick(random.chance(0.7) ? alike : places)
    const value = structuredClone((from as { [name: string]: unknown })[at])
    ;(parts as { [name: string]: unknown })[name] = value
  }
  return JSON.stringify(verdict)
}

export const DAMAGED_VERDICT: Property = { name: 'damage-verdict', run: survivesVerdict }
