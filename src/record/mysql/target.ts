// The targets `mysql://…` and `mariadb://…`: a server that speaks MySQL's protocol.

import { findOwnLevel } from '../../levels/databases.ts'
import { serverTarget, splitHosts } from '../server-url.ts'
import type { OpenOptions, Target, TargetKind } from '../target.ts'
import { type MysqlAddress, parseMysqlAddress } from './address.ts'
import { DRIVER } from './client.ts'
import { MYSQL_LEVELS } from './connection.ts'
import { MysqlDatabase } from './database.ts'
import { cutOffLast } from './partition.ts'

/** Where the address says what sessions ask for, that is what they get, whatever is asked for. */
function levelsOf({ isolation }: MysqlAddress): Pick<Target, 'levels' | 'usualLevel'> {
  if (isolation === null) return { levels: MYSQL_LEVELS, usualLevel: 'ser' }
  const levels = new Map([...MYSQL_LEVELS.keys()].map((level) => [level, isolation]))
  // Of READ UNCOMMITTED nothing is promised; what it may not even try is rc.
  return { levels, usualLevel: findOwnLevel(MYSQL_LEVELS, isolation) ?? 'rc' }
}

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
    const about = { product: 'MariaDB or MySQL', ...levelsOf(first!) }
    const target = serverTarget(about, servers, (entrances, patienceMs) =>
      MysqlDatabase.open(first!, { others, entrances, patienceMs }),
    )
    if (others.length === 0) return target
    const open = async (options: OpenOptions) => ({
      ...(await target.open(options)),
      makers: cutOffLast(servers),
    })
    return { ...target, cutsNodesOff: true, open }
  },
}
