// The target `redis://…`: a Redis server, or one that speaks its protocol.

import { openServers, type Target, type TargetKind } from '../target.ts'
import { DRIVER, parseRedisAddress, type RedisAddress } from './client.ts'
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
  parse: (text, given) => redisTarget(parseRedisAddress(text, given)),
}

function redisTarget(address: RedisAddress): Target {
  return {
    product: 'Redis',
    levels: REDIS_LEVELS,
    usualLevel: 'ser',
    undisturbed: null,
    ownsServer: false,
    tidyMs: 1500,
    open: (options) =>
      openServers([address], options, ([entrance]) =>
        RedisDatabase.open(address, entrance ?? {}, options.patienceMs),
      ),
  }
}
