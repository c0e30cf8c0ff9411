// Small histories with known verdicts: those on which checkers are known to go wrong, each with a
// twin one edit away, and the examples by which the definitions are defended. Every decider of a
// level is held against them; levels that are not named are not asserted.

import type { OracleLevel, Verdict } from './oracle.ts'

export interface Case {
  readonly name: string
  readonly notation: string
  readonly satisfied?: readonly OracleLevel[]
  readonly violated?: readonly OracleLevel[]
  readonly unknown?: readonly OracleLevel[]
}

const WEAK = ['ci', 'rc', 'ra', 'cc'] as const
const TO_SER = ['ci', 'rc', 'ra', 'cc', 'pc', 'si', 'ser'] as const
const ALL = [...TO_SER, 'sser'] as const
const RA_UP = ['ra', 'cc', 'pc', 'si', 'ser'] as const

export const CASES: readonly Case[] = [
  {
    name: 'a session that misses its own write and reads the initial value',
    notation: 's1: w(x,1) | r(x,0)',
    satisfied: ['ci', 'rc'],
    violated: RA_UP,
  },
  {
    name: 'a session that reads its own write',
    notation: 's1: w(x,1) | r(x,1)',
    satisfied: TO_SER,
    unknown: ['sser'],
  },
  {
    name: 'a read older than what the transaction has read before',
    notation: 's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(y,2) r(x,1)',
    satisfied: ['ci'],
    violated: ['rc', ...RA_UP, 'sser'],
  },
  {
    name: 'the same reads in the other order, which only ra forbids',
    notation: 's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(x,1) r(y,2)',
    satisfied: ['ci', 'rc'],
    violated: RA_UP,
  },
  {
    name: 'a forced order that must not feed back into what is visible',
    notation: 's0: w(x,1) | w(x,2) w(y,2) | r(y,3)\ns1: r(x,1) w(y,3)',
    satisfied: ['ci', 'rc', 'ra', 'cc', 'pc'],
    violated: ['si', 'ser'],
  },
  {
    name: 'the same without the read that was in the way',
    notation: 's0: w(x,1) | w(x,2) w(y,2) | r(y,3)\ns1: w(y,3)',
    satisfied: TO_SER,
  },
  {
    name: 'a lost update whose second half aborted',
    notation: 's0: w(x,1)\ns1: r(x,1) w(x,2)\ns2: r(x,1) w(x,3) [aborted]',
    satisfied: TO_SER,
  },
  {
    name: 'a lost update',
    notation: 's0: w(x,1)\ns1: r(x,1) w(x,2)\ns2: r(x,1) w(x,3)',
    satisfied: ['ci', 'rc', 'ra', 'cc', 'pc'],
    violated: ['si', 'ser', 'sser'],
  },
  {
    name: 'a session that reads, overwrites and then reads the initial value',
    notation: 's0: r(x,0) w(x,1) | r(x,0)',
    satisfied: ['ci', 'rc'],
    violated: RA_UP,
  },
  {
    name: 'a session predecessor that is not adjacent',
    notation: 's0: w(x,1) | w(x,2) | w(y,9) | r(x,1)',
    satisfied: ['ci', 'rc'],
    violated: RA_UP,
  },
  {
    name: 'the newest write of a session, not adjacent to its read',
    notation: 's0: w(x,1) | w(x,2) | w(y,9) | r(x,2)',
    satisfied: TO_SER,
  },
  {
    name: 'an observed write of an indeterminate transaction',
    notation: 's0: w(x,1) [indeterminate]\ns1: r(x,1)',
    satisfied: TO_SER,
  },
  {
    name: 'an observed write of an aborted transaction',
    notation: 's0: w(x,1) [aborted]\ns1: r(x,1)',
    violated: ALL,
  },
  {
    name: 'an indeterminate transaction observed through another one',
    notation:
      's0: w(x,1) w(z,1) [indeterminate]\ns1: r(x,1) w(y,1) [indeterminate]\n' +
      's2: r(y,1) r(z,0)',
    satisfied: ['ci', 'rc', 'ra'],
    violated: ['cc', 'pc', 'si', 'ser'],
  },
  {
    name: 'an indeterminate transaction that nobody observed',
    notation: 's0: w(x,1) | r(x,2) w(x,3) [indeterminate] | r(x,1)',
    satisfied: TO_SER,
  },
  {
    name: 'a forced cycle of three transactions',
    notation:
      's0: w(a,1) w(x,1) w(z,1)\ns1: w(b,1) w(x,2) w(y,1)\ns2: w(c,1) w(y,2) w(z,2)\n' +
      's3: r(a,1) r(x,2)\ns4: r(b,1) r(y,2)\ns5: r(c,1) r(z,1)',
    satisfied: ['ci'],
    violated: ['rc', ...RA_UP],
  },
  {
    name: 'the same with one read turned around',
    notation:
      's0: w(a,1) w(x,1) w(z,1)\ns1: w(b,1) w(x,2) w(y,1)\ns2: w(c,1) w(y,2) w(z,2)\n' +
      's3: r(a,1) r(x,2)\ns4: r(b,1) r(y,2)\ns5: r(c,1) r(z,2)',
    satisfied: ['ci', 'rc'],
  },
  {
    name: 'a circle of reads',
    notation: 's0: r(x,1) w(y,1)\ns1: r(y,1) w(x,1)',
    satisfied: ['ci'],
    violated: ['rc', ...RA_UP, 'sser'],
  },
  {
    name: 'a circle of reads, each behind a write of its own',
    notation: 's1: w(x,1) r(y,1)\ns2: w(y,1) r(x,1)',
    satisfied: ['ci'],
    violated: ['rc', ...RA_UP, 'sser'],
  },
  {
    name: 'a circle through session order',
    notation: 's0: r(x,1) | w(y,1)\ns1: r(y,1) | w(x,1)',
    satisfied: ['ci'],
    violated: ['rc', ...RA_UP],
  },
  {
    name: 'a stale read in real time, between transactions that no other path connects',
    notation: 's0: w(x,1) r(y,1) [0,10]\ns1: r(x,1) [1,2]\ns2: w(y,1) [3,4]',
    satisfied: TO_SER,
    violated: ['sser'],
  },
  {
    name: 'one half of it',
    notation: 's0: w(x,1) r(y,1) [0,10]\ns2: w(y,1) [3,4]',
    satisfied: ALL,
  },
  {
    name: 'the other half of it',
    notation: 's0: w(x,1) [0,10]\ns1: r(x,1) [1,2]',
    satisfied: ALL,
  },
  {
    name: 'equal instants, which overlap',
    notation: 's0: w(x,1) [0,3]\ns1: r(x,0) [3,4]',
    satisfied: ALL,
  },
  {
    name: 'a write that was finished before the read began',
    notation: 's0: w(x,1) [0,3]\ns1: r(x,0) [4,5]',
    satisfied: TO_SER,
    violated: ['sser'],
  },
  {
    name: 'an indeterminate write that takes effect after its recorded end',
    notation: 's0: w(x,1) [0,3 indeterminate]\ns1: r(x,0) [4,5]\ns2: r(x,1) [6,7]',
    satisfied: ALL,
  },
  {
    name: 'two writers of one version, which pc allows',
    notation: 's0: r(x,0) w(x,1)\ns1: r(x,0) w(x,2)',
    satisfied: ['ci', 'rc', 'ra', 'cc', 'pc'],
    violated: ['si', 'ser'],
  },
  {
    name: 'write skew',
    notation: 's0: r(x,0) w(y,1)\ns1: r(y,0) w(x,1)',
    satisfied: ['ci', 'rc', 'ra', 'cc', 'pc', 'si'],
    violated: ['ser', 'sser'],
  },
  {
    name: 'a long fork',
    notation: 's0: w(x,1)\ns1: w(y,1)\ns2: r(x,1) r(y,0)\ns3: r(x,0) r(y,1)',
    satisfied: WEAK,
    violated: ['pc', 'si', 'ser'],
  },
  {
    name: 'two versions of a key in one transaction, in an order that rc allows',
    notation: 's0: w(x,1)\ns1: w(x,2)\ns2: r(x,1) r(x,2)',
    satisfied: ['rc'],
    violated: ['ci', ...RA_UP],
  },
  {
    name: 'initial values written by transactions that lead the input, in two sessions',
    notation: 's0: w(x,0)\ns1: w(y,0)\ns0: w(x,1) | r(x,1) r(y,0)\ns1: r(x,1)',
    satisfied: TO_SER,
  },
]

/** Histories of lists, which need an observed order inside the commit order. */
export const LIST_CASES: readonly Case[] = [
  {
    name: 'reads that are prefixes of one another',
    notation: 's0: append(x,1) | append(x,2)\ns1: r(x,[1]) | r(x,[1,2])',
    satisfied: TO_SER,
  },
  {
    name: 'reads that disagree about the order',
    notation: 's0: append(x,1)\ns1: append(x,2)\ns2: r(x,[1,2])\ns3: r(x,[2,1])',
    violated: TO_SER,
  },
  {
    name: 'two lists whose orders contradict each other',
    notation:
      's0: append(x,1) append(y,1)\ns1: append(x,2) append(y,2)\ns2: r(x,[1,2]) | r(y,[2,1])',
    satisfied: ['ci'],
    violated: ['rc', ...RA_UP],
  },
  {
    name: 'an unobserved append by an earlier transaction of the session',
    notation: 's0: append(x,1) | append(x,2)\ns1: r(x,[2])',
    satisfied: ['ci'],
    violated: ['rc', ...RA_UP],
  },
  {
    name: 'an unobserved append of somebody else',
    notation: 's0: append(x,1)\ns2: append(x,2)\ns1: r(x,[2])',
    satisfied: TO_SER,
  },
  {
    name: 'own appends at the end of what is read',
    notation: 's0: append(x,1)\ns1: append(x,2) r(x,[1,2]) append(x,3) r(x,[1,2,3])',
    satisfied: TO_SER,
  },
  {
    name: 'own appends in front of what is read',
    notation: 's0: append(x,1)\ns1: append(x,2) r(x,[2,1])',
    violated: TO_SER,
  },
  {
    name: 'a read that misses an own append',
    notation: 's0: append(x,1)\ns1: append(x,2) r(x,[1])',
    violated: TO_SER,
  },
  {
    name: 'an element in the middle that was aborted',
    notation: 's0: append(x,1) [aborted]\ns1: append(x,2)\ns2: r(x,[1,2])',
    violated: TO_SER,
  },
  {
    name: 'an element in the middle that nobody appended',
    notation: 's1: append(x,2)\ns2: r(x,[1,2])',
    violated: TO_SER,
  },
  {
    name: 'an element twice',
    notation: 's1: append(x,2)\ns2: r(x,[2,2])',
    violated: TO_SER,
  },
  {
    name: 'a read that stops in the middle of a transaction',
    notation: 's1: append(x,1) append(x,2)\ns2: r(x,[1])',
    violated: TO_SER,
  },
  {
    name: 'a foreign element in the middle of a transaction',
    notation: 's1: append(x,1) append(x,2)\ns2: append(x,3)\ns3: r(x,[1,3,2])',
    violated: TO_SER,
  },
  {
    name: 'an empty read after a session appended',
    notation: 's1: append(x,1) | r(x,[])',
    satisfied: ['ci', 'rc'],
    violated: RA_UP,
  },
  {
    name: 'an append by an indeterminate transaction, seen in the middle',
    notation: 's1: append(x,1) [indeterminate]\ns2: append(x,2)\ns3: r(x,[1,2])',
    satisfied: TO_SER,
  },
]

/** Every assertion of a case. */
export function* assertionsOf(one: Case): Generator<[OracleLevel, Verdict]> {
  for (const level of one.satisfied ?? []) yield [level, 'satisfied']
  for (const level of one.violated ?? []) yield [level, 'violated']
  for (const level of one.unknown ?? []) yield [level, 'unknown']
}
