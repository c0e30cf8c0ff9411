import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { InputError, UsageError } from '../../src/base/errors.ts'
import { readLevelsFile } from '../../src/cli/levels-file.ts'
import { readLevel } from '../../src/levels/words.ts'
import { planSql } from '../../src/workload/sql/workload.ts'

const folder = mkdtempSync(join(tmpdir(), 'isobar-levels-'))
const path = join(folder, 'levels.json')

const readWord = (word: string) => readLevel(word).level

function read(text: string, shape = 'tpcc'): string {
  writeFileSync(path, text)
  return readLevelsFile(path, shape, readWord)
}

describe('readLevelsFile', () => {
  afterAll(() => rmSync(folder, { recursive: true }))

  test('gives every type its level, however its name is spelt', () => {
    const levels = read('{"NewOrder": "SER",\n "stock-level": "ra", "*": "rc"}\n')
    expect(levels).toBe('new order=ser,stock level=ra,*=rc')
    const { tasks, strongLevel } = planSql({ shape: 'tpcc', transactions: 200, levels })
    for (const { name, level } of tasks) {
      expect(level).toBe(name === 'new order' ? 'ser' : name === 'stock level' ? 'ra' : 'rc')
    }
    expect(strongLevel).toBe('ser')
  })

  test('takes every word for a level', () => {
    const levels = read('{"payment": "Snapshot-Isolation", "*": "postgres:read committed"}')
    expect(levels).toBe('payment=si,*=rc')
  })

  test.each([
    ['{"payments": "ser", "*": "rc"}', ':1:2: unknown type', 'did you mean "payment"?'],
    [
      '{"tea": "ser",\n"*": "rc"}',
      ':1:2: unknown type of transactions "tea"',
      'new order, payment',
    ],
    ['{"payment": "ser",\n "*": "best"}', ':2:7: unknown level "best"', 'there are ci, rc'],
    ['{"payment": "ser",\n "*": "pl-2"}', ':2:7: SQL transactions cannot be at', 'rc, ra, cc'],
    ['{"*": "repeatable read"}', ':1:7: "repeatable read" has more than one', 'postgres:'],
    ['{"payment": "ser"}', ':1:1: no level for new order, order status', '"*" for all others'],
    ['{"*": "rc", "*": "ser"}', ':1:13: the type "*" has two levels', ''],
    ['{"*": "rc",}', ':1:12: expected a type of transactions in quotes', '{"new order"'],
    ['{"*": 1}', ':1:7: expected a level in quotes, found "1"', ''],
    ['["rc"]', ':1:1: expected {', ''],
    ['{"*": "rc"', ':1:11: expected }, found the end of the file', ''],
    ['{"*": "rc"} 1', ':1:13: expected nothing behind', ''],
  ])('refuses %s', (text, message, hint) => {
    try {
      read(text)
      expect.unreachable(text)
    } catch (error) {
      expect(error).toBeInstanceOf(InputError)
      expect((error as InputError).describe()).toContain(`levels.json${message}`)
      expect((error as InputError).hint ?? '').toContain(hint)
    }
  })

  test('is for SQL transactions that it names', () => {
    expect(() => read('{"*":"rc"}', 'mini')).toThrow(UsageError)
    expect(() => readLevelsFile(join(folder, 'none.json'), 'tpcc', readWord)).toThrow(InputError)
    expect(() => planSql({ shape: 'twitter', levels: 'publish=ser' })).toThrow('have no level')
  })
})
