// Files to damage and the ways to damage them. Bytes alone rarely get past a parser, so most edits
// move whole tokens: numbers, names, brackets and lines, those of the file itself and those that
// have hurt before.

import { Random } from '../../src/base/random.ts'
import { type Format, findFormat } from '../../src/formats/formats.ts'
import { HistoryBuilder } from '../../src/history/builder.ts'
import { APPEND, type History, listOf, READ, READ_LIST } from '../../src/history/history.ts'
import type { Value } from '../../src/history/values.ts'
import { randomSqlHistory } from '../formats/native/sql-histories.ts'
import { mutate, save } from '../formats/storage.ts'
import { HOSTILE_NAMES } from '../report/hostile.ts'
import { buildHistory } from '../small/draft.ts'
import { buildLightHistory, randomLightOps } from '../small/linearizer.ts'
import { randomHistory, shapeOf } from '../small/random-history.ts'
import { randomSql } from '../small/random-sql.ts'
import { historyOfSql } from '../small/sql-draft.ts'

type Files = Map<string, Uint8Array>

/** A small history of any kind that the format knows, often under names with bad intent. */
export function hostileFiles(format: Format, seed: number): Files {
  const random = new Random(seed ^ 0xbad)
  const history = baseHistory(format, random, seed)
  const named = !history.sql && random.chance(0.4) ? renamed(history, random) : history
  return save(format, format.misfits(named).length === 0 ? named : history)
}

/** A small history of any kind. */
export function anyBase(random: Random, seed: number): History {
  return baseHistory(findFormat('native')!, random, seed)
}

function baseHistory(format: Format, random: Random, seed: number): History {
  const kinds = format.id === 'native' || format.id === 'notation' ? 5 : 2
  switch (random.below(kinds)) {
    case 2:
      return buildLightHistory(randomLightOps(seed))
    case 3:
      return format.id === 'native' ? historyOfSql(randomSql(seed)) : anySmall(random, seed)
    case 4:
      return format.id === 'native' ? randomSqlHistory(seed) : anySmall(random, seed)
    default:
      return anySmall(random, seed)
  }
}

function anySmall(random: Random, seed: number): History {
  const lists = random.chance(0.4) ? random.pick([0.5, 1]) : 0
  return buildHistory(randomHistory(seed, shapeOf(seed, { lists })))
}

/** The same history with other names for keys, sessions and transactions. */
function renamed(history: History, random: Random): History {
  const builder = new HistoryBuilder(history.initial)
  const name = () => `${random.pick(HOSTILE_NAMES)}${random.below(100)}`
  const keys = Array.from({ length: history.keyCount }, (_, key): Value => `${name()}${key}`)
  const sessions = Array.from({ length: history.sessionCount }, (_, s) => `${name()}${s}`)
  for (let txn = 0; txn < history.txnCount; txn++) {
    const session = builder.session(sessions[history.txnSession[txn]!]!)
    const added = builder.addTxn(session, history.txnStatus[txn]!)
    builder.setLabel(added, `${name()}${txn}`)
    const [start, finish] = [history.txnStartTime?.[txn], history.txnFinishTime?.[txn]]
    if (start !== undefined && !Number.isNaN(start)) builder.setStart(added, start)
    if (finish !== undefined && !Number.isNaN(finish)) builder.setFinish(added, finish)
    for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
      const key = keys[history.opKey[op]!]!
      const kind = history.opKind[op]
      if (kind === READ_LIST) builder.readList(added, key, listOf(history, op))
      else if (kind === READ) builder.read(added, key, history.valueOf(op))
      else if (kind === APPEND) builder.append(added, key, history.valueOf(op))
      else builder.write(added, key, history.valueOf(op))
    }
  }
  return builder.finish()
}

/** The files, one of them or all with a few things changed; seldom with nothing changed. */
export function damage(files: Files, random: Random): Files {
  const damaged: Files = new Map()
  for (const [name, bytes] of files) {
    damaged.set(name, files.size > 1 && random.chance(0.5) ? bytes : damageFile(bytes, random))
  }
  if (files.size > 1 && random.chance(0.1)) damaged.delete(random.pick([...damaged.keys()]))
  return damaged
}

function damageFile(bytes: Uint8Array, random: Random): Uint8Array {
  let result = bytes
  for (let edits = random.below(4); edits > 0; edits--) {
    const way = random.below(10)
    if (way === 0) result = mutate(result, [[random.uint32(), random.below(256), random.below(3)]])
    else if (way < 3) result = editLines(result, random)
    else result = editTokens(result, random)
  }
  return result
}

const encoder = new TextEncoder()

/** One byte a character, so that what is not text survives. */
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')
const bytesOf = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'))

/** A line left out, repeated, or moved; or the file cut. */
function editLines(bytes: Uint8Array, random: Random): Uint8Array {
  const lines = textOf(bytes).split('\n')
  const [at, to] = [random.below(lines.length), random.below(lines.length)]
  switch (random.below(4)) {
    case 0:
      lines.splice(at, 1)
      break
    case 1:
      lines.splice(to, 0, lines[at]!)
      break
    case 2:
      lines.splice(to, 0, ...lines.splice(at, 1))
      break
    default:
      return bytes.slice(0, random.below(bytes.length + 1))
  }
  return bytesOf(lines.join('\n'))
}

/** What has hurt before, or might. */
const TOKENS = [
  ...[
    '0',
    '-1',
    '1',
    '2',
    '7',
    '-0',
    '01',
    '1e3',
    '1.5',
    '1e400',
    '9007199254740993',
    '2147483648',
  ],
  ...[
    '4294967296',
    '9223372036854775807',
    '-9223372036854775808',
    '18446744073709551615',
    '1e-400',
  ],
  ...['123456789012345678901234567890', 'NaN', 'Infinity', 'null', 'nil', 'true', 'false', '""'],
  ...['[]', '{}', '[[]]', '[1]', '[1 1]', '[1,1]', '[1,2]', 'r', 'w', 'append', 'cas', 'insert'],
  ...['select', 'update', 'delete', 'abort', 'aborted', 'indeterminate', ':r', ':w', ':append'],
  ...[':ok', ':fail', ':info', ':invoke', 'initial', 'ser', 'mixed', '"x"', 'x', 'y', 'T1', '#1'],
  ...[
    '__proto__',
    'constructor',
    'toString',
    '\\',
    '"',
    "'",
    '[',
    ']',
    '{',
    '}',
    '(',
    ')',
    ',',
    ':',
  ],
  ...['|', ';', '#', '\n', '\r', '\r\n', '\t', ' ', '\u0000', '\u001b[2J', '\u009b31m', '\u202e'],
  ...['\u2028', '\ufeff', '\u{e0041}', '\ud83d\ude00', '†', 'null null', '$1', 'TRUE', 'id = 1'],
]

/** A token replaced, left out, put in or swapped with another, all of one kind or any. */
function editTokens(bytes: Uint8Array, random: Random): Uint8Array {
  const tokens = textOf(bytes).match(/-?\d+(?:\.\d+)?|[A-Za-z_]+|"(?:[^"\\\n]|\\.)*"|\s+|[\s\S]/g)
  if (!tokens) return bytes
  const words = tokens.flatMap((token, i) => (/[\w"]/.test(token) ? i : []))
  const place = () =>
    words.length > 0 && random.chance(0.8) ? random.pick(words) : random.below(tokens.length)
  const [at, to] = [place(), place()]
  const other = random.chance(0.5) ? tokens[to]! : textOf(encoder.encode(random.pick(TOKENS)))
  const way = random.below(5)
  if (way === 0) tokens.splice(at, 1)
  else if (way === 1) tokens.splice(at, 0, other)
  else if (way === 2) [tokens[at], tokens[to]] = [tokens[to]!, tokens[at]!]
  else tokens[at] = other
  return bytesOf(tokens.join(''))
}
