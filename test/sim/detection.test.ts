// Every fault is found at every level that forbids it, and called by its name and no other; where a
// level allows it, nothing is found.

import { describe, expect, test } from 'vitest'
import { rightNames } from '../../scripts/fault-names.ts'
import { detect, SHAPES } from '../../scripts/faults.ts'
import { detectTogether, unnamed } from '../../scripts/large-faults.ts'
import { FAULTS } from '../../src/sim/faults.ts'

describe('check', () => {
  test.each(FAULTS)('finds $name where it is forbidden, under its name', (fault) => {
    for (const detection of detect(fault)) {
      const { shape, seed, level, forbidden, verdict, names } = detection
      const place = `${fault.name} ${shape} seed ${seed} ${level}`
      expect(`${place} ${verdict}`).toBe(`${place} ${forbidden ? 'violated' : 'satisfied'}`)
      const right = rightNames(fault, shape === 'append')
      const isNamed = names.length > 0 && names.every((name) => right.includes(name))
      if (forbidden && !isNamed) {
        expect.unreachable(`${place} is called ${names.join(', ')}, not ${right.join(' or ')}`)
      }
    }
  })

  test.each(Object.keys(SHAPES) as (keyof typeof SHAPES)[])(
    'names every fault beside all others in %s histories',
    (shape) => {
      for (const { level, counts, forbidden } of detectTogether(shape, FAULTS, 1000)) {
        expect(unnamed(shape, counts, forbidden), level).toEqual([])
      }
    },
  )
})
