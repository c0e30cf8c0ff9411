// Every fault is found at every level that forbids it, and called by its name and no other; where a
// level allows it, nothing is found.

import { describe, expect, test } from 'vitest'
import { type Detection, detect, detectTogether, SHAPES } from '../../scripts/faults.ts'
import type { AnomalyName } from '../../src/levels/anomalies.ts'
import { FAULTS } from '../../src/sim/faults.ts'

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

function rightNames({ fault, shape }: Detection): readonly AnomalyName[] {
  const { names, onLists } = RIGHT[fault.name]!
  return shape === 'append' && onLists ? onLists : names
}

describe('check', () => {
  test.each(FAULTS)('finds $name where it is forbidden, under its name', (fault) => {
    for (const detection of detect(fault)) {
      const { shape, seed, level, forbidden, verdict, names } = detection
      const place = `${fault.name} ${shape} seed ${seed} ${level}`
      expect(`${place} ${verdict}`).toBe(`${place} ${forbidden ? 'violated' : 'satisfied'}`)
      const right = rightNames(detection)
      const isNamed = names.length > 0 && names.every((name) => right.includes(name))
      if (forbidden && !isNamed) {
        expect.unreachable(`${place} is called ${names.join(', ')}, not ${right.join(' or ')}`)
      }
    }
  })

  test.each(Object.keys(SHAPES) as (keyof typeof SHAPES)[])(
    'names every fault beside all others in %s histories',
    (shape) => {
      for (const { level, counts, forbidden } of detectTogether(shape, 1000)) {
        for (const fault of forbidden) {
          const { names, onLists } = RIGHT[fault.name]!
          const right = shape === 'append' && onLists ? onLists : names
          const isNamed = right.some((name) => counts.has(name))
          expect(isNamed, `${fault.name} at ${level}`).toBe(true)
        }
      }
    },
  )
})
