// Every fault is found at every level that forbids it, and called by its name; where a level allows
// it, nothing is found.

import { describe, expect, test } from 'vitest'
import { type Detection, detect } from '../../scripts/faults.ts'
import type { AnomalyName } from '../../src/levels/anomalies.ts'
import { CHAIN } from '../../src/levels/levels.ts'
import { FAULTS } from '../../src/sim/faults.ts'

/** Names of which a verdict must give at least one. */
interface Names {
  /** At ci, rc, ra, cc. */
  readonly weak?: readonly AnomalyName[]
  /** At pc, si, ser, sser: real time is blamed only where nothing else is to blame. */
  readonly strong: readonly AnomalyName[]
  /** Where a shape goes by other names. */
  readonly onLists?: readonly AnomalyName[]
}

const always = (name: AnomalyName): Names => ({ weak: [name], strong: [name] })

const RIGHT: Record<string, Names> = {
  'thin-air-read': always('ThinAirRead'),
  'future-read': always('FutureRead'),
  'not-my-last-write': { ...always('NotMyLastWrite'), onLists: ['NotMyOwnWrite'] },
  'not-my-own-write': always('NotMyOwnWrite'),
  'non-monotonic-read': always('NonMonoReadCO'),
  'dirty-read': always('CyclicCO'),
  'aborted-read': always('AbortedRead'),
  'intermediate-read': always('IntermediateRead'),
  'non-repeatable-read': always('NonRepeatableRead'),
  'fractured-read': always('FracturedReadCO'),
  'session-order-violation': {
    weak: ['FracturedReadCO'],
    strong: ['SessionGuaranteeViolation'],
  },
  // Another session may have seen the write that this one misses.
  'stale-initial-read': {
    weak: ['FracturedReadCO'],
    strong: ['SessionGuaranteeViolation', 'CausalityViolation'],
  },
  // On lists a lost element contradicts the order of the others in many ways.
  'lost-write': {
    weak: ['FracturedReadCO'],
    strong: ['SessionGuaranteeViolation'],
    onLists: ['G0', 'G1c', 'G-single', 'SessionGuaranteeViolation', 'CausalityViolation'],
  },
  'causality-violation': { weak: ['COConflictCM'], strong: ['CausalityViolation'] },
  'duplicate-delivery': {
    weak: ['COConflictCM'],
    strong: ['SessionGuaranteeViolation'],
    onLists: ['DuplicateElements'],
  },
  'long-fork': { strong: ['LongFork'] },
  'lost-update': { strong: ['LostUpdate'] },
  'write-skew': { strong: ['WriteSkew'] },
  'stale-read': { strong: ['StaleRead'] },
  'real-time-violation': { strong: ['StaleRead'] },
}

function rightNames({ fault, shape, level }: Detection): readonly AnomalyName[] {
  const { weak = [], strong, onLists } = RIGHT[fault.name]!
  if (shape === 'append' && onLists) return onLists
  if (level === 'ci' || CHAIN.indexOf(level) <= CHAIN.indexOf('cc')) return weak
  return strong
}

describe('check', () => {
  test.each(FAULTS)('finds $name where it is forbidden, under its name', (fault) => {
    for (const detection of detect(fault)) {
      const { shape, seed, level, forbidden, verdict, names } = detection
      const place = `${fault.name} ${shape} seed ${seed} ${level}`
      expect(`${place} ${verdict}`).toBe(`${place} ${forbidden ? 'violated' : 'satisfied'}`)
      const right = rightNames(detection)
      const isNamed = names.some((name) => right.includes(name))
      if (forbidden && !isNamed) {
        expect.unreachable(`${place} is called ${names.join(', ')}, not ${right.join(' or ')}`)
      }
    }
  })
})
