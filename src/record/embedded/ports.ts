// A port of this machine for a server that may have to give it up and take it again. Main function:
// freePort.

import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * A port that no outgoing connection is given: one of those, such as a client's that tries again
 * and again while the server is down, would hold the port when the server wants it back.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 50; tries++) {
    const port = randomInt(15_000, 32_000)
    if ((await listenableAt(port)) > 0) return port
  }
  return listenableAt(0)
}

/** The port if it is free, 0 if it is not; any free one if 0 is asked for. */
function listenableAt(wanted: number): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(0))
    probe.listen(wanted, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}
