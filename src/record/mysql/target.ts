// The targets `mysql://…` and `mariadb://…`: a server that speaks MySQL's protocol.

import { serverTarget, splitHosts } from '../server-url.ts'
import type { TargetKind } from '../target.ts'
import { parseMysqlAddress } from './address.ts'
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
    const servers = splitHosts(text).map((each) => parseMysqlAddress(each, given))
    const [first, ...others] = servers // of one cluster
    const about = { product: 'MariaDB or MySQL', levels: MYSQL_LEVELS }
    return serverTarget(about, servers, (entrances, patienceMs) =>
      MysqlDatabase.open(first!, { others, entrances, patienceMs }),
    )
  },
}
