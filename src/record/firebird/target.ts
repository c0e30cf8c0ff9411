// The target `firebird://…`: a Firebird server.

import { serverTarget } from '../server-url.ts'
import type { TargetKind } from '../target.ts'
import { parseFirebirdAddress } from './address.ts'
import { DRIVER } from './client.ts'
import { FIREBIRD_LEVELS } from './connection.ts'
import { FirebirdDatabase } from './database.ts'

const OP_CONNECT = 1
const OP_ACCEPT = 3
const OP_REJECT = 4

export const FIREBIRD: TargetKind = {
  form: 'firebird://user@host/alias',
  about: 'a Firebird server of your own',
  pattern: /^firebird:/,
  driver: DRIVER,
  trial: {
    product: 'Firebird',
    port: 3050,
    hello: hello(),
    isAnswer: (bytes) => {
      return bytes.length >= 4 && [OP_ACCEPT, OP_REJECT].includes(bytes.readInt32BE(0))
    },
  },
  parse: (text, given) => {
    const address = parseFirebirdAddress(text, given)
    return serverTarget(
      { product: 'Firebird', levels: FIREBIRD_LEVELS },
      [address],
      ([entrance], patienceMs) => FirebirdDatabase.open(address, entrance ?? {}, patienceMs),
    )
  },
}

/**
 * The first message of a client: it wants to attach (19), speaks version 3 of this message, has no
 * particular machine (1), names no file and no user, and offers version 10 of the protocol.
 */
function hello(): Buffer {
  const words = [OP_CONNECT, 19, 3, 1, 0, 1, 0, 10, 1, 2, 3, 2]
  const bytes = Buffer.alloc(4 * words.length)
  for (const [i, word] of words.entries()) bytes.writeInt32BE(word, 4 * i)
  return bytes
}
