// What is told of the progress of a file that is judged on disk.

import { describe, expect, it } from 'vitest'
import { DiskProgress } from '../../src/cli/disk-progress.ts'

describe('DiskProgress', () => {
  const follow = (steps: [phase: string, done: number, all: number][]) => {
    const progress = new DiskProgress()
    return steps.map(([phase, done, all], i) => progress.tell(phase, done, all, 1000 * i))
  }

  it('estimates what is left of a first round, and numbers further ones', () => {
    const told = follow([
      ['reading', 1, 2],
      ['reading', 2, 2],
      ['reading', 0, 4],
      ['matching', 0, 4],
      ['matching', 3, 4],
      ['matching', 0, 4],
      ['comparing', 1, 2],
      ['matching', 0, 4],
      ['verifying', 1, 2],
    ])
    expect(told.slice(0, 2)).toEqual([
      ['reading, about 0 s left', 0.21],
      ['reading, about 2 s left', 0.42],
    ])
    const shares = told.slice(0, 7).map(([, share]) => share!)
    expect(shares).toEqual(shares.toSorted((a, b) => a - b))
    expect(told.slice(7)).toEqual([
      ['matching, round 2', null],
      ['verifying, round 2', null],
    ])
  })

  it('begins anew where the file as it stands was not enough', () => {
    const told = follow([
      ['streaming', 9, 10],
      ['streaming', 1, 10],
      ['reading', 1, 4],
      ['matching', 1, 4],
    ])
    expect(told.map(([words]) => words)).toEqual([
      'streaming, about 0 s left',
      'streaming, round 2',
      'reading, about 0 s left',
      'matching, about 2 s left',
    ])
  })
})
