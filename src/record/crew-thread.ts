// The program of a thread that has a crew: sessions with connections of their own, which record
// into the file of the run. Started by threads.ts, with what it is to do as its data.

import { parentPort, workerData } from 'node:worker_threads'
import { Numbers, Places } from './among-threads.ts'
import { Calls, type Port, plainError } from './calls.ts'
import { BESIDES_EVERY_MS, type Host, LocalCrew, type Share } from './crew.ts'
import { nodesWithin } from './reach.ts'
import { Recorder } from './recorder.ts'
import type { PlainOpened, ThreadOrders } from './threads.ts'
import { workOf } from './work-order.ts'

serveCrew(parentPort!, workerData as ThreadOrders)

function serveCrew(port: Port & { close(): void }, given: ThreadOrders): void {
  const { orders } = given
  const { place, of } = given.recorder
  let keyCount = 0
  const recorder = Recorder.join(given.recorder)
  const calls = new Calls(port, {
    open: async (atOnce: number): Promise<PlainOpened> => {
      const { count, failure } = await crew.open(atOnce)
      return { count, failure: failure && plainError(failure) }
    },
    run: () => telling(() => crew.run()),
    runLast: () => telling(() => crew.runLast()),
    rest: () => crew.rest(),
    goOn: () => crew.goOn(),
    stop: () => crew.stop(),
    close: async () => {
      try {
        await crew.close()
      } finally {
        recorder.close()
      }
    },
  })
  const host: Host = {
    ensureKeys: async (count) => {
      await calls.call('ensureKeys', count)
      keyCount = Math.max(keyCount, count)
    },
    noteLoss: () => calls.tell('noteLoss'),
    fail: (error) => calls.tell('fail', plainError(error)),
  }
  const share: Share = {
    ...{ place, of, resting: new Places(given.resting) },
    sessionIds: new Numbers(orders.sessions + place, of),
  }
  const nodes = nodesWithin(given.reach, () => keyCount)
  const equipment = { recorder, work: workOf(given.work), nodes, proxies: [] }
  const crew = new LocalCrew(orders, share, equipment, host)

  /** Says now and then, and in the end, what has been recorded. */
  async function telling(work: () => Promise<void>): Promise<void> {
    const tell = () => calls.tell('note', crew.tally)
    const timer = setInterval(tell, BESIDES_EVERY_MS)
    try {
      await work()
    } finally {
      clearInterval(timer)
      tell()
    }
  }
}
