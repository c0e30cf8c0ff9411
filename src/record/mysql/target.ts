// The targets `mysql://…` and `mariadb://…`: a server that speaks MySQL's protocol.

import { splitHosts } from '../server-url.ts'
import { openServers, type Target, type TargetKind } from '../target.ts'
import { type MysqlAddress, parseMysqlAddress } from './address.ts'
import { DRIVER } from './client.ts'
import { MYSQL_LEVELS } from './connection.ts'
import { MysqlDatabase } from './database.ts'

export const MYSQL: TargetKind = {
  form: 'mysql://user@host/database',
  about: 'a MariaDB or MySQL server of your own (or mariadb://…)',
  pattern: /^(mysql|mariadb):/,
  driver: DRIVER,
  trial: {
    product: 'MariaDB or MySQL',
    port: 3306,
    hello: null,
    // It speaks first: the length of the message, its number, and version 10 of the protocol; or
    // an error, if it does not let us in.
    isAnswer: (bytes) => bytes[3] === 0 && (bytes[4] === 10 || bytes[4] === 255),
  },
  parse: (text, given) => {
    const [first, ...others] = splitHosts(text).map((each) => parseMysqlAddress(each, given))
    return mysqlTarget(first!, others)
  },
}

/** @param others further nodes of the same cluster */
function mysqlTarget(address: MysqlAddress, others: readonly MysqlAddress[]): Target {
  return {
    product: 'MariaDB or MySQL',
    levels: MYSQL_LEVELS,
    usualLevel: 'ser',
    undisturbed: null,
    ownsServer: false,
    tidyMs: 1500,
    open: (options) => {
      const { patienceMs } = options
      return openServers([address, ...others], options, (entrances) =>
        MysqlDatabase.open(address, { others, entrances, patienceMs }),
      )
    },
  }
}
