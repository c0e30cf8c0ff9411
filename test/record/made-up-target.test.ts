// Runs on targets that are made up around a simulated store: what comes of their nodes and of their
// troubles.

import { expect, it } from 'vitest'
import type { Connection, Database, Node } from '../../src/record/database.ts'
import type { OpenTarget, Target } from '../../src/record/target.ts'
import { parseTarget } from '../../src/record/targets.ts'
import { stage } from './stage.ts'

function madeUp(change: (opened: OpenTarget) => Partial<OpenTarget>): Target {
  const sim = parseTarget('sim:ser')
  const open = async (options: Parameters<Target['open']>[0]) => {
    const opened = await sim.open(options)
    return { ...opened, ...change(opened) }
  }
  return { ...sim, ownsServer: true, open }
}

/** The same with some things of its own. */
function like<T extends object>(model: T, own: Partial<T>): T {
  return new Proxy(model, {
    get(target, name) {
      if (name in own) return own[name as keyof T]
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

it('leaves a session at its node, however often it connects', async () => {
  const opens = [0, 0, 0]
  const nodeOf = (database: Database, i: number): Node => ({
    isReader: false,
    open: async () => {
      opens[i]!++
      const connection = await database.open()
      let isLost = false
      const commit = async () => {
        await connection.commit()
        isLost = true
      }
      return new Proxy(like<Connection>(connection, { commit }), {
        get: (target, name) => (name === 'isLost' ? isLost : Reflect.get(target, name)),
      })
    },
  })
  const target = madeUp(({ database }) => ({
    database: like<Database>(database, { nodes: opens.map((_, i) => nodeOf(database, i)) }),
  }))
  const workload = { shape: 'mini', transactions: 40, sessions: 2, keys: 50 } as const
  await stage({ target, workload }, ({ summary }) => {
    expect(summary.transactions.committed).toBeGreaterThan(20)
    expect(opens[0]).toBeGreaterThan(5)
    expect(opens[1]).toBeGreaterThan(5)
    expect(opens[2]).toBe(0)
  })
})

it('lets go of a server that it has stopped when it is to end', async () => {
  const signal = new AbortController()
  let goesOn = Promise.resolve()
  const target = madeUp(({ database }) => {
    const open = async () => {
      const connection = await database.open()
      const commit = async () => {
        await goesOn
        await connection.commit()
      }
      return like<Connection>(connection, { commit })
    }
    return {
      database: like<Database>(database, { open }),
      makers: {
        stop: async (_, wait) => {
          goesOn = wait(600_000)
          signal.abort()
          await goesOn
        },
      },
    }
  })
  const options = { target, fault: 'stop-server:0.5s', durationMs: 60_000, signal: signal.signal }
  await stage(options, ({ stoppedBy }) => {
    expect(stoppedBy).toBe('signal')
  })
})

it('refuses to have lightweight transactions rest, which have no room for it', async () => {
  const options = { target: 'sim:ser', fault: 'pause:10%:1s', workload: { shape: 'lwt' } as const }
  await expect(stage(options, () => {})).rejects.toThrow('the fault pause is not for shape lwt')
})
