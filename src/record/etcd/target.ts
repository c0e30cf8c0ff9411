// The target `etcd://…`: etcd 3.4 or later, through its JSON gateway. It needs no driver.

import { serverTarget } from '../server-url.ts'
import type { TargetKind } from '../target.ts'
import { parseEtcdAddress } from './client.ts'
import { ETCD_LEVELS } from './connection.ts'
import { EtcdDatabase } from './database.ts'

export const ETCD: TargetKind = {
  form: 'etcd://host:2379/name',
  about: 'an etcd server of your own',
  pattern: /^etcd:/,
  driver: null,
  trial: {
    product: 'etcd',
    port: 2379,
    hello: 'GET /version HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n',
    isAnswer: (bytes) => bytes.toString('latin1').includes('"etcdserver"'),
  },
  parse: (text) => {
    const address = parseEtcdAddress(text)
    return serverTarget(
      { product: 'etcd', levels: ETCD_LEVELS },
      [address],
      ([entrance], patienceMs) => EtcdDatabase.open(address, entrance ?? {}, patienceMs),
    )
  },
}
