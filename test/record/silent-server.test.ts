// Servers that take connections and never say a word: what listens there may be something else, or
// may have stopped.

import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { NO_FAULTS } from '../../src/record/faults.ts'
import { cutBy, withinPatience } from '../../src/record/patience.ts'
import { openTarget } from '../../src/record/target.ts'
import { parseTarget } from '../../src/record/targets.ts'

let server: Server
let sockets: Socket[]

beforeEach(async () => {
  sockets = []
  // Such a server does not hang up either when the other side does.
  server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    socket.resume()
    sockets.push(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})

afterEach(() => {
  for (const socket of sockets) socket.destroy()
  server.close()
})

describe('openTarget', () => {
  const options = { levels: [], sessions: 1, seed: 1, faults: NO_FAULTS, patienceMs: 300 }

  it.each(['postgres://u:p@HOST/d', 'postgres://u:p@HOST/d?sslmode=require', 'mysql://u:p@HOST/d'])(
    'gives up within its patience when nobody answers at %s',
    (form) => expectNoAnswer(form),
  )

  it.each(['redis://HOST/0', 'etcd://HOST/d', 'firebird://u:p@HOST/d'])(
    'gives up within its patience when nobody answers at %s',
    (form) => expectNoAnswer(form),
  )

  async function expectNoAnswer(form: string): Promise<void> {
    const { port } = server.address() as AddressInfo
    const target = parseTarget(form.replace('HOST', `127.0.0.1:${port}`))
    await expect(openTarget(target, options)).rejects.toMatchObject({
      name: 'DatabaseError',
      message: expect.stringMatching(/^\w+:\/\/.*: no answer within 0.3 s$/),
      hint: expect.stringContaining('--patience'),
    })
    // Nothing keeps the program alive: only our server's ends are open.
    const open = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap')
    await vi.waitFor(() => expect(open().length).toBe(sockets.length))
  }
})

describe('cutBy', () => {
  it('cuts what is abandoned or fails, and only that', async () => {
    const cuts: string[] = []
    const cut = (name: string) => () => cuts.push(name)
    const well = withinPatience(60_000, (signal) => cutBy(signal, cut('well'), async () => 7))
    expect(await well).toBe(7)
    const failing = async () => Promise.reject(new Error('refused'))
    await expect(cutBy(null, cut('failed'), failing)).rejects.toThrow('refused')
    const never = () => new Promise<never>(() => {})
    const late = withinPatience(10, (signal) => cutBy(signal, cut('late'), never))
    await expect(late).rejects.toThrow('no answer within 0 s')
    expect(cuts).toEqual(['failed', 'late'])
  })
})
