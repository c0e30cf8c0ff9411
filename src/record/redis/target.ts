// The target `redis://…`: a Redis server, or one that speaks its protocol.

import { serverTarget } from '../server-url.ts'
import type { TargetKind } from '../target.ts'
import { DRIVER, parseRedisAddress } from './client.ts'
import { REDIS_LEVELS } from './connection.ts'
import { RedisDatabase } from './database.ts'

export const REDIS: TargetKind = {
  form: 'redis://host/0',
  about: 'a Redis server of your own (rediss://… encrypted)',
  pattern: /^rediss?:/,
  driver: DRIVER,
  trial: {
    product: 'Redis',
    port: 6379,
    hello: 'PING\r\n',
    isAnswer: (bytes) => /^(\+PONG|-NOAUTH|-DENIED|-LOADING)/.test(bytes.toString('latin1')),
  },
  parse: (text, given) => {
    const address = parseRedisAddress(text, given)
    return serverTarget(
      { product: 'Redis', levels: REDIS_LEVELS },
      [address],
      ([entrance], patienceMs) => RedisDatabase.open(address, entrance ?? {}, patienceMs),
    )
  },
}
