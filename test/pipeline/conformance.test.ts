// Conformance on a cluster that a test has made up: a store of this process behind several nodes.

import { describe, expect, it } from 'vitest'
import { examine } from '../../src/pipeline/conformance.ts'
import type { Node } from '../../src/record/database.ts'
import { parseTarget } from '../../src/record/targets.ts'
import { tellNodes } from '../../src/report/conformance-text.ts'
import { SCHEDULES } from '../../src/workload/schedules.ts'

/** A schedule on a store with such nodes, and how often each was connected to. */
async function playOn(readers: readonly boolean[]) {
  const store = parseTarget('sim:si')
  const opened = readers.map(() => 0)
  const target: typeof store = {
    ...store,
    open: async (options) => {
      const open = await store.open(options)
      const nodes = readers.map((isReader, i): Node => {
        const connect = async () => {
          opened[i]!++
          return open.database.open()
        }
        return { isReader, open: connect }
      })
      return { ...open, database: Object.assign(open.database, { nodes }) }
    },
  }
  const schedules = SCHEDULES.filter(({ id }) => id === 'p4')
  const options = { target, levels: null, patienceMs: 1000, signal: null, schedules }
  return { found: await examine(options), opened }
}

describe('examine', () => {
  it('plays each transaction on another node that can be written to', async () => {
    const { found, opened } = await playOn([false, false])
    expect(opened).toEqual([1, 1])
    expect(found).toMatchObject({ nodeCount: 2, replicaCount: 0 })
    expect(tellNodes(found)).toEqual([
      'each transaction of a schedule was played on another of the 2 nodes',
    ])
  })

  it('says that it has played nothing on replicas', async () => {
    const { found, opened } = await playOn([false, true])
    expect(opened).toEqual([2, 0])
    expect(tellNodes(found)).toEqual([
      'nothing was played on the 1 replica: this says nothing about what they show',
    ])
  })

  it('says nothing of nodes where there is one', async () => {
    expect(tellNodes((await playOn([false])).found)).toEqual([])
  })
})
