// Databases in files: what a run leaves in them, and what it refuses.

import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openInstance, query as queryDuck } from '../../src/record/duckdb/driver.ts'
import { NO_FAULTS } from '../../src/record/faults.ts'
import { openClient, query } from '../../src/record/sqlite/driver.ts'
import { openTarget } from '../../src/record/target.ts'
import { parseTarget } from '../../src/record/targets.ts'
import { openClient as openTurso, query as queryTurso } from '../../src/record/turso/driver.ts'
import { inDirectory, stage, verdictsOf } from '../record/stage.ts'

const small = { transactions: 40, sessions: 3, keys: 5 }
const MARK = 'made by isobar for one run; safe to drop'

async function onSqlite(path: string, ...statements: string[]): Promise<unknown> {
  const client = await openClient(path)
  let last: unknown = null
  for (const statement of statements) last = query(client, statement).rows[0]?.[0] ?? null
  client.close()
  return last
}

async function onDuck(path: string, ...statements: string[]): Promise<unknown> {
  const instance = await openInstance(path)
  const client = await instance.connect()
  let last: unknown = null
  for (const each of statements) last = (await queryDuck(client, each)).rows[0]?.[0] ?? null
  client.closeSync()
  instance.closeSync()
  return last
}

async function onTurso(path: string, ...statements: string[]): Promise<unknown> {
  const client = await openTurso(path)
  let last: unknown = null
  for (const each of statements) last = (await queryTurso(client, each)).rows[0]?.[0] ?? null
  await client.close()
  return last
}

const byProcess = `CHECK ('${MARK}, by process 999999999' <> '')`
const leftMarked = {
  sqlite: [`CREATE TABLE isobar_registers (k INTEGER, ${byProcess})`],
  turso: [`CREATE TABLE isobar_registers (k INTEGER, ${byProcess})`],
  duckdb: [
    'CREATE TABLE isobar_registers (k INTEGER)',
    `COMMENT ON TABLE isobar_registers IS '${MARK}'`,
  ],
}

describe.each([
  ['sqlite', 'ser', onSqlite],
  ['turso', 'si', onTurso],
  ['duckdb', 'si', onDuck],
] as const)('a run on a file of %s', (scheme, level, on) => {
  const runOn = (path: string, look: (verdicts: Record<string, string>) => void = () => {}) =>
    stage({ target: `${scheme}:${path}`, dbLevel: level, workload: small }, (outcome) =>
      look(verdictsOf(outcome)),
    )

  it('removes a file that it has made', async () => {
    await inDirectory(async (directory) => {
      await runOn(join(directory, 'new'), (verdicts) => expect(verdicts['rc']).toBe('satisfied'))
      expect(readdirSync(directory).filter((name) => name !== 'run')).toEqual([])
    })
  })

  it('leaves a file as it was, and a table of its name that is not ours alone', async () => {
    await inDirectory(async (directory) => {
      const path = join(directory, 'old')
      await on(path, 'CREATE TABLE mine (x INTEGER)', 'INSERT INTO mine VALUES (7)')
      await runOn(path)
      expect(await on(path, 'SELECT x FROM mine')).toBe(7)
      const foreign = 'SELECT k FROM isobar_registers'
      await on(path, 'CREATE TABLE isobar_registers (k INTEGER)')
      await on(path, 'INSERT INTO isobar_registers VALUES (9)')
      await expect(runOn(path)).rejects.toThrow(/isobar did not make; nothing was changed/)
      expect(await on(path, foreign)).toBe(9)
    })
  })

  it('drops what a killed run left', async () => {
    await inDirectory(async (directory) => {
      const path = join(directory, 'left')
      await on(path, 'CREATE TABLE mine (x INTEGER)', ...leftMarked[scheme])
      await runOn(path, (verdicts) => expect(verdicts['rc']).toBe('satisfied'))
      await expect(on(path, 'SELECT k FROM isobar_registers')).rejects.toThrow(/isobar_registers/)
    })
  })

  it('says so if the file is no database, or lies nowhere', async () => {
    await inDirectory(async (directory) => {
      const path = join(directory, 'text')
      writeFileSync(path, 'this is no database, and should be let alone '.repeat(200))
      await expect(runOn(path)).rejects.toMatchObject({ name: 'DatabaseError' })
      await expect(runOn(path)).rejects.toMatchObject({ hint: /or a file that is not there yet/ })
      writeFileSync(join(directory, 'short'), 'too short for a page')
      await expect(runOn(join(directory, 'short'))).rejects.toMatchObject({
        hint: /or a file that is not there yet/,
      })
      const folder = await runOn(directory).catch((error) => error)
      expect(folder).toMatchObject({ name: 'DatabaseError', hint: /name a file|such a directory/ })
      expect(folder.message).not.toContain('ConnectionFailed')
      const nowhere = join(directory, 'no', 'where')
      await expect(runOn(nowhere)).rejects.toMatchObject({
        name: 'DatabaseError',
        hint: /such a directory/,
      })
      expect(existsSync(join(directory, 'no'))).toBe(false)
    })
  })

  it('cannot have its connections cut, nor another level than it offers', async () => {
    await inDirectory(async (directory) => {
      const target = `${scheme}:${join(directory, 'x')}`
      const cut = stage({ target, dbLevel: level, fault: 'kill-connection' }, () => {})
      await expect(cut).rejects.toThrow(/no connections to disturb/)
      const weaker = stage({ target, dbLevel: 'rc', workload: small }, () => {})
      await expect(weaker).rejects.toMatchObject({ name: 'UsageError', hint: /it offers/ })
      expect(readdirSync(directory)).toEqual([])
    })
  })
})

describe('Turso', () => {
  it('gives a file its journal back, and takes nothing in memory', async () => {
    await inDirectory(async (directory) => {
      const path = join(directory, 'old')
      await onTurso(path, 'CREATE TABLE mine (x INTEGER)')
      await stage({ target: `turso:${path}`, dbLevel: 'si', workload: small }, () => {})
      expect(await onTurso(path, 'PRAGMA journal_mode')).toBe('wal')
      expect(() => parseTarget('turso::memory:')).toThrow(/belongs to one connection/)
    })
  })

  it('is not let near the log of another file', async () => {
    await inDirectory(async (directory) => {
      writeFileSync(join(directory, 'x.db-log'), 'not ours')
      const target = parseTarget(`turso:${join(directory, 'x.other')}`)
      const open = { levels: [], sessions: 1, seed: 1, faults: NO_FAULTS, patienceMs: 1000 }
      await expect(openTarget(target, open)).rejects.toThrow(/there is a log beside it already/)
      expect(readdirSync(directory)).toEqual(['x.db-log'])
    })
  })
})

describe('SQLite', () => {
  it('is used by one run at a time', async () => {
    await inDirectory(async (directory) => {
      const target = parseTarget(`sqlite:${join(directory, 'shared')}`)
      const open = { levels: [], sessions: 1, seed: 1, faults: NO_FAULTS, patienceMs: 1000 }
      const first = await openTarget(target, open)
      await expect(openTarget(target, open)).rejects.toThrow(/another run uses this database/)
      await first.close()
      await (await openTarget(target, open)).close()
    })
  })

  it('is serializable with a rollback journal, too', async () => {
    await inDirectory(async (directory) => {
      const options = {
        target: `sqlite:${join(directory, 'x')}?journal=delete`,
        workload: { transactions: 40, sessions: 3, seed: 1 },
      }
      await stage(options, (outcome) => {
        expect(outcome.summary.level.granted).toBe('SERIALIZABLE (journal_mode delete)')
        expect(verdictsOf(outcome)).toMatchObject({ sser: 'satisfied' })
      })
    })
  })
})
