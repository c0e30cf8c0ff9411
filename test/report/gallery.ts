// A small history for every kind of anomaly, as the reports are shown to draw each of them.

import { checkLevels, profile } from '../../src/check/check.ts'
import { parseNotation } from '../../src/history/notation.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import { describeVerdict } from '../../src/report/describe-verdict.ts'
import type { VerdictJson } from '../../src/verdict/verdict-file.ts'

export interface Exhibit {
  /** The anomaly that its verdict names. */
  readonly name: string
  /** The level to judge, where a weaker one would give it another name; else the profile. */
  readonly level?: LevelId
  readonly notation: string
}

export const GALLERY: readonly Exhibit[] = [
  { name: 'ThinAirRead', notation: 's1: w(x,1)\ns2: r(x,7)' },
  { name: 'AbortedRead', notation: 's1: w(x,1) [aborted]\ns2: r(x,1)' },
  { name: 'FutureRead', notation: 's1: r(x,1) w(x,1)' },
  { name: 'NotMyOwnWrite', notation: 's1: w(x,1)\ns2: w(x,2) r(x,1)' },
  { name: 'NotMyLastWrite', notation: 's1: w(x,1) w(x,2) r(x,1)' },
  { name: 'IntermediateRead', notation: 's1: w(x,1) w(x,2)\ns2: r(x,1)' },
  { name: 'CyclicCO', notation: 's1: r(x,2) w(y,1)\ns2: r(y,1) w(x,2)' },
  {
    name: 'NonMonoReadCO',
    notation: 's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(y,2) r(x,1)',
  },
  {
    name: 'NonMonoReadCM',
    notation: [
      's0: w(a,1) w(x,1) w(z,1)',
      's1: w(b,1) w(x,2) w(y,1)',
      's2: w(c,1) w(y,2) w(z,2)',
      's3: r(a,1) r(x,2)',
      's4: r(b,1) r(y,2)',
      's5: r(c,1) r(z,1)',
    ].join('\n'),
  },
  {
    name: 'NonRepeatableRead',
    notation: 's1: r(x,0) r(x,1) [start=2 finish=8]\ns2: w(x,1) [start=3 finish=4]',
  },
  {
    name: 'FracturedReadCO',
    notation: 's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(x,1) r(y,2)',
  },
  {
    name: 'FracturedReadCM',
    notation: 's1: w(x,2) | r(x,1) | w(x,4)\ns2: w(x,1) | r(x,2) | w(x,3)',
  },
  {
    name: 'COConflictCM',
    notation: 's0: w(x,1)\ns1: r(x,1) w(x,2)\ns2: r(x,2) w(y,1)\ns3: r(y,1) r(x,1)',
  },
  {
    name: 'ConflictCM',
    notation: [
      's1: w(x,1) w(a,1)',
      's2: w(x,2) w(b,1)',
      's3: r(a,1) w(c,1)',
      's4: r(b,1) w(d,1)',
      's5: r(c,1) r(x,2)',
      's6: r(d,1) r(x,1)',
    ].join('\n'),
  },
  {
    name: 'LostUpdate',
    notation:
      's1: r(x,0) w(x,1) [start=1 finish=5 level=si]\ns2: r(x,0) w(x,2) [start=2 finish=6 level=si]',
  },
  {
    name: 'LongFork',
    notation: 's1: w(x,1)\ns2: w(y,1)\ns3: r(x,1) r(y,0)\ns4: r(x,0) r(y,1)',
  },
  {
    name: 'WriteSkew',
    notation: 's1: r(x,0) r(y,0) w(x,1)\ns2: r(x,0) r(y,0) w(y,1)',
  },
  {
    name: 'ReadOnlyAnomaly',
    notation: 's1: r(x,0) w(x,1)\ns2: r(x,0) r(y,0) w(y,2)\ns3: r(x,1) r(y,0)',
  },
  {
    name: 'StaleRead',
    notation: 's1: r(x,0) w(x,1) [start=1 finish=3]\ns2: r(x,0) [start=4 finish=6]',
  },
  {
    name: 'G2-item',
    notation: 's1: r(y,0) w(y,1) r(x,0)\ns2: r(x,0) w(x,1) | r(y,0) r(x,1) w(x,2)',
  },
  {
    name: 'IncompatibleOrder',
    notation: 's1: append(l,1)\ns2: append(l,2)\ns3: r(l,[1,2])\ns4: r(l,[2,1])',
  },
  { name: 'DuplicateElements', notation: 's1: append(l,1)\ns2: r(l,[1,1])' },
  {
    name: 'G0',
    notation: 's1: append(x,1) append(y,1)\ns2: append(x,2) append(y,2)\ns3: r(x,[1,2]) r(y,[2,1])',
  },
  {
    name: 'G1c',
    level: 'sser',
    notation: 's1: w(y,1) [start=3 finish=4]\ns3: r(y,1) [start=0 finish=2]',
  },
  {
    name: 'SessionGuaranteeViolation',
    level: 'pc',
    notation: 's1: w(y,1) | w(x,2) | r(y,0) w(y,3)',
  },
  {
    name: 'CausalityViolation',
    level: 'pc',
    notation: 's1: r(x,1) r(y,0)\ns2: r(y,0) w(y,1) | r(x,0) w(x,1)',
  },
  {
    name: 'G-single',
    level: 'si',
    notation: [
      's1: r(y,0) w(x,1) r(y,0) [start=0 finish=0] | r(y,0) [start=0 finish=4]',
      's2: r(x,0) w(y,1) w(x,2) [start=3 finish=7]',
    ].join('\n'),
  },
  {
    name: 'G-nonadjacent',
    level: 'si',
    notation: [
      's1: r(y,2) w(x,3)',
      's2: w(y,1) r(y,1) r(y,1) r(x,0) | w(y,2) r(y,2) | r(y,4) w(y,5) r(x,0) r(y,5)',
      's3: r(y,0) r(y,0) | w(y,6) r(x,0)',
      's4: w(y,4) r(y,4) r(y,4) r(x,0)',
      's5: r(y,1) w(x,7) r(x,7)',
    ].join('\n'),
  },
]

/** Two pairs of writes in unknown order, and a contradiction in each of the four cases. */
export const CASE_SPLIT = [
  's1: w(x,1) w(p,1)',
  's2: w(x,2) w(q,1)',
  's3: w(y,1) w(u,1)',
  's4: w(y,2) w(v,1)',
  's5: r(x,1) r(u,1) r(v,1)',
  's6: r(x,2) r(u,1) r(v,1)',
  's7: r(y,1) r(p,1) r(q,1)',
  's8: r(y,2) r(p,1) r(q,1)',
].join('\n')

/** The verdict on a history in notation, as a report gets it. */
export function judge(notation: string, level?: LevelId, path = 'history.txt'): VerdictJson {
  const history = parseNotation(notation)
  const results = level === undefined ? profile(history) : checkLevels(history, [level])
  const asked = level === undefined ? null : [level]
  const command = `isobar check ${path}${level === undefined ? '' : ` --level ${level}`}`
  const context = { path, format: 'notation', parseMs: 0, asked, command }
  const verdict = describeVerdict(history, results, context)
  // Times differ from run to run; nothing else may.
  for (const result of verdict.results) Object.assign(result, { elapsedMs: 0, stages: {} })
  return verdict
}
