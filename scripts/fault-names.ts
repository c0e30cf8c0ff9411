// The names under which every fault of the simulated store has to be found, alone and beside all
// others. Main function: rightNames.

import type { AnomalyName } from '../src/levels/anomalies.ts'
import type { Fault } from '../src/sim/faults.ts'

/** The names of a fault at every level that forbids it, and on lists where they differ. */
interface Names {
  readonly names: readonly AnomalyName[]
  readonly onLists?: readonly AnomalyName[]
}

const named = (...names: AnomalyName[]): Names => ({ names })

const RIGHT: Record<string, Names> = {
  'thin-air-read': named('ThinAirRead'),
  'future-read': named('FutureRead'),
  'not-my-last-write': { names: ['NotMyLastWrite'], onLists: ['NotMyOwnWrite'] },
  'not-my-own-write': named('NotMyOwnWrite'),
  'non-monotonic-read': named('NonMonotonicRead'),
  'dirty-read': named('CircularInformationFlow'),
  'aborted-read': named('AbortedRead'),
  'intermediate-read': named('IntermediateRead'),
  'non-repeatable-read': named('NonRepeatableRead'),
  'fractured-read': named('FracturedRead'),
  'session-order-violation': named('SessionGuaranteeViolation'),
  // Another session may have seen the write that this one misses.
  'stale-initial-read': named('SessionGuaranteeViolation', 'CausalityViolation'),
  // What a session writes on without its own write is a lost update as well. On lists a lost
  // element contradicts the order of the others, and time, in many ways.
  'lost-write': {
    names: ['SessionGuaranteeViolation', 'LostUpdate'],
    onLists: [
      'G0',
      'G1c',
      'G-single',
      'SessionGuaranteeViolation',
      'CausalityViolation',
      'NonMonoReadCM',
      'FracturedReadCM',
      'LostUpdate',
      'StaleRead',
    ],
  },
  'causality-violation': named('CausalityViolation'),
  'duplicate-delivery': { names: ['SessionGuaranteeViolation'], onLists: ['DuplicateElements'] },
  'long-fork': named('LongFork'),
  'lost-update': named('LostUpdate'),
  'write-skew': named('WriteSkew'),
  'stale-read': named('StaleRead'),
  'real-time-violation': named('StaleRead'),
}

/** @param onLists whether the history is one of lists */
export function rightNames(fault: Fault, onLists: boolean): readonly AnomalyName[] {
  const right = RIGHT[fault.name]!
  return (onLists && right.onLists) || right.names
}
