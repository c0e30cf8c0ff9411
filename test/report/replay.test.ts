import { describe, expect, it } from 'vitest'
import { findSections } from '../../src/report/page/sections.ts'
import { buildReplay, type Replay } from '../../src/report/replay.ts'
import type { VerdictJson } from '../../src/verdict/verdict-file.ts'
import { GALLERY, judge } from './gallery.ts'
import { judgeSql, SQL_GALLERY } from './sql-gallery.ts'

function replayOf(verdict: VerdictJson): Replay {
  const [section] = findSections(verdict)
  return buildReplay(section!.evidence[0]!.example, verdict.initial)!
}

const tell = (replay: Replay) =>
  replay.steps.map(({ text, note }) => (note ? `${text} (${note})` : text))

describe('buildReplay', () => {
  it('lets both read before either commits, so that an update is lost', () => {
    const replay = replayOf(judge('s1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)', 'si'))
    expect(tell(replay)).toEqual([
      'T1 reads x=0',
      'T2 reads x=0',
      'T1 writes x=1',
      'T2 writes x=2',
      'T1 commits: x=1',
      'T2 commits: x=2',
    ])
    expect(replay).toMatchObject({ timed: false, keys: ['x'], initial: ['x=0'], left: 0 })
  })

  it('waits for what is read, and says what had been committed when a read was stale', () => {
    const fork = 's1: w(x,1)\ns2: w(y,1)\ns3: r(x,1) r(y,0)\ns4: r(y,1) r(x,0)'
    expect(tell(replayOf(judge(fork, 'pc')))).toEqual(
      expect.arrayContaining([
        'T3 reads y=0 (committed at this point: y=1)',
        'T4 reads x=0 (committed at this point: x=1)',
      ]),
    )
  })

  it('goes by times where there are some', () => {
    const stale = 's1: w(x,1) [0,10]\ns2: r(x,0) [20,30]'
    const replay = replayOf(judge(stale, 'sser'))
    expect(replay.timed).toBe(true)
    expect(tell(replay)).toEqual([
      'T1 writes x=1',
      'T1 commits: x=1',
      'T2 reads x=0 (committed at this point: x=1)',
      'T2 commits',
    ])
  })

  it('shows dirty reads, aborts, and what others left or appended', () => {
    expect(tell(replayOf(judge('s1: w(x,1) [aborted]\ns2: r(x,1)', 'rc')))).toContain(
      'T1 aborts: what it wrote is gone',
    )
    const lists =
      's0: append(l,1)\ns1: r(l,[1]) append(l,2)\ns2: r(l,[1]) append(l,3)\ns3: r(l,[1,2,3])'
    const replay = replayOf(judge(lists, 'si'))
    const last = replay.steps.findLast(({ committed }) => committed.length > 0)
    expect(last!.committed.map(([, text]) => text)).toEqual(['l=[1 2 3]'])
  })

  it('takes every step of every exhibit once, in program order', async () => {
    const verdicts = GALLERY.map(({ notation, level }) => judge(notation, level))
    for (const { text, level } of SQL_GALLERY) verdicts.push(await judgeSql(text, level))
    for (const verdict of verdicts) {
      for (const { evidence } of findSections(verdict)) {
        const { example } = evidence[0]!
        const { steps, left, txns } = buildReplay(example, verdict.initial)!
        expect(left).toBe(0)
        txns.forEach((_, txn) => {
          const mine = steps.filter((step) => step.txn === txn).map(({ op }) => op)
          expect(mine).toEqual([...example.txns[txn]!.ops.keys(), null])
        })
      }
    }
  })
})
