// Where the live tests find databases other than the embedded one: addresses in the environment, as
// scripts/live-databases.sh gives them. One that is not there is skipped, loudly. Test files run at
// the same time, so each has a database of its own on the server.

import Firebird from 'node-firebird'
import { parseFirebirdAddress } from '../../src/record/firebird/address.ts'
import { parseMysqlAddress } from '../../src/record/mysql/address.ts'
import { connectClient, query } from '../../src/record/mysql/client.ts'
import { splitHosts } from '../../src/record/server-url.ts'

/** The address in that variable of the environment, or null. */
export function liveAddress(variable: string, what: string): string | null {
  const address = process.env[variable]
  if (address) return address
  process.stderr.write(`SKIPPED: live tests on ${what} (set ${variable})\n`)
  return null
}

/** Databases of Redis are numbers; null without a server. */
export function redisDatabase(number: number): string | null {
  const address = liveAddress('ISOBAR_TEST_REDIS', 'Redis')
  return address === null ? null : address.replace(/\/\d*$/, `/${number}`)
}

/** A name of its own on the server of etcd; null without one. */
export function etcdName(name: string): string | null {
  const address = liveAddress('ISOBAR_TEST_ETCD', 'etcd')
  return address === null ? null : `${address}/${name}`
}

/** A database of that name on the server of MariaDB or MySQL, made anew; null without a server. */
export function mysqlDatabase(name: string): Promise<string | null> {
  return databaseAt(liveAddress('ISOBAR_TEST_MYSQL', 'MariaDB'), name)
}

/** The same on all nodes of a Galera cluster. */
export function galeraDatabase(name: string): Promise<string | null> {
  return databaseAt(liveAddress('ISOBAR_TEST_GALERA', 'a Galera cluster'), name)
}

async function databaseAt(address: string | null, name: string): Promise<string | null> {
  if (address === null) return null
  const given = { environment: process.env, password: undefined }
  const client = await connectClient(parseMysqlAddress(splitHosts(address)[0]!, given))
  await query(client, `DROP DATABASE IF EXISTS isobar_${name}`)
  await query(client, `CREATE DATABASE isobar_${name}`)
  client.destroy()
  return address.replace(/\/[^/]*$/, `/isobar_${name}`)
}

/** A database of that name on the server of Firebird, made anew; null without a server. */
export async function firebirdDatabase(name: string): Promise<string | null> {
  const address = liveAddress('ISOBAR_TEST_FIREBIRD', 'Firebird')
  if (address === null) return null
  const own = address.replace(/[^/]*$/, `${name}.fdb`)
  const options = {
    ...parseFirebirdAddress(own, { environment: process.env, password: undefined }),
  }
  const left = await Firebird.attachAsync(options as object).catch(() => null)
  await left?.dropAsync()
  const made = await Firebird.createAsync({ ...options, pageSize: 16_384 } as object)
  await made.detachAsync()
  return own
}
