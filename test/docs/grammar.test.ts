// The grammar of docs/notation.md is the notation: what is made by its rules parses, every
// alternative of it, and of texts with a letter more or less the parser takes those that the
// grammar allows. What only the meaning of a text forbids is named in MEANINGS.

import { describe, expect, it } from 'vitest'
import { Random } from '../../src/base/random.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { LEVELS } from '../../src/levels/levels.ts'
import { LONG } from '../long.ts'
import { blocksOf } from './blocks.ts'
import { Grammar, type Terminal } from './grammar.ts'

const [block] = blocksOf('grammar')

const pick = <Item>(random: Random, items: readonly Item[]): Item =>
  items[random.below(items.length)]!
const WORDS = ['x', 'y', '_a', 'Key.1', 'a$b', 'a@b', 'a-b', 'r', 'w', 'none', 'initial', 's1']
const STRING = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/
const VALUE = new RegExp(`-?\\d+(?![\\w.])|${STRING.source}|[A-Za-z_][\\w.$@-]*`)
const value: Terminal = {
  make: (random) => pick(random, ['1', '-3', '18446744073709551615', '"1"', 'null', ...WORDS]),
  pattern: VALUE,
}

/** What the page says in words. */
const TERMINALS: Record<string, Terminal> = {
  NEWLINE: { make: () => '\n', pattern: /\n/ },
  word: {
    make: (random) => pick(random, WORDS),
    pattern: /(?!null\b(?![.$@-]))[A-Za-z_][\w.$@-]*/,
  },
  integer: {
    make: (random) =>
      pick(random, ['0', '7', '-7', '-9223372036854775808', '18446744073709551615']),
    pattern: /-?\d+(?![\w.])/,
  },
  number: {
    make: (random) => pick(random, ['0', '12', '0.5', '1e3', '12345678901234567890.25']),
    pattern: /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/,
  },
  string: {
    make: (random) => pick(random, ['""', '"s7"', '"a b"', '"\\u00e4\\n\\""', '"|#->"', '"ключ"']),
    pattern: STRING,
  },
  lsn: {
    make: (random) => pick(random, ['16/B374D848', '0/1', 'FFFFFFFF/FFFFFFFF']),
    pattern: /[0-9A-Fa-f]{1,8}\/[0-9A-Fa-f]{1,8}/,
  },
  comment: {
    make: (random) => pick(random, ['# w(x', '-> [', '#', '->']),
    pattern: /(?:#|->)[^\n]*/,
  },
  level: {
    make: (random) => pick(random, LEVELS).id,
    pattern: new RegExp(
      LEVELS.map(({ id }) => `${id.replace(/[.+]/g, '\\$&')}(?![\\w.+-])`).join('|'),
    ),
  },
  old: value,
  new: value,
  seen: value,
  id: value,
}

/** Nothing is wrong with how it is written. */
const MEANINGS = [
  /is written twice|is used twice/,
  /`initial` must stand before the first session/,
  /starts at .* before its session's previous one ended|finishes? .*before/,
  /transactions come after one another in a circle/,
  /is used both as a register and as a list/,
  /has versions, but|versions are numbers here and LSNs there/,
  /rows of one key hold lists, or values, not both/,
  /does not fit into 64 bits|is out of range/,
  /cannot be incremented by|is a counter|is a set|null is no element of a set|the set returned|a read of a set says|cannot be read as|counters begin with|add up to more than/,
  /the range from .* (is empty|has no key)|a range is of integer keys|the range (?:read )?returned key/,
  /a range read says which keys are not there|several possible writers in a history that gives/,
]

/** s7 is one word, and so is w(x,1)@3. */
const TIGHT = { session: 'inside', version: 'before and inside' } as const

const grammar = new Grammar(block!.text, TERMINALS, TIGHT)

/** Null if it parses, else what is wrong with it; transactions that it names are added. */
function complaintOf(text: string): string | null {
  const named: string[] = []
  for (;;) {
    try {
      parseNotation([text, ...named.map((id) => `others: [id=${JSON.stringify(id)}]`)].join('\n'))
      return null
    } catch (error) {
      const { message } = error as Error
      const missing = /^no transaction has the id (.*)$/s.exec(message)?.[1]
      if (missing === undefined) return message
      named.push(missing)
    }
  }
}

describe('the grammar of the notation', () => {
  it('explains every name that it uses', () => {
    expect(grammar.findGaps()).toEqual([])
    expect(grammar.alternatives).toBeGreaterThan(25)
  })

  it('makes texts that parse, by each of its alternatives', () => {
    const random = new Random(22)
    const parsed = new Set<number>()
    for (let i = 0; i < (LONG ? 10_000 : 3000); i++) {
      const { text, taken } = grammar.derive('line', random)
      const complaint = complaintOf(text)
      if (complaint === null) for (const choice of taken) parsed.add(choice)
      else
        expect(
          MEANINGS.some((each) => each.test(complaint)),
          `${text}\n${complaint}`,
        ).toBe(true)
    }
    const every = Array.from({ length: grammar.alternatives }, (_, choice) => choice)
    expect(every.filter((choice) => !parsed.has(choice))).toEqual([])
  })

  it('allows and forbids what the parser does, one letter further', () => {
    const random = new Random(17)
    const counts = [0, 0]
    for (let i = 0; i < (LONG ? 10_000 : 3000); i++) {
      const { text } = grammar.derive('line', random)
      const at = random.below(text.length + 1)
      const changed = pick(random, [
        text.slice(0, at) + text.slice(at + 1),
        text.slice(0, at) + pick(random, [...'rw(),[]|:@=1x"# ']) + text.slice(at),
      ])
      const complaint = complaintOf(changed)
      if (complaint !== null && MEANINGS.some((each) => each.test(complaint))) continue
      const isAllowed = grammar.allows('line', changed)
      expect(complaint === null, `${changed}\n${complaint}`).toBe(isAllowed)
      counts[Number(isAllowed)]!++
    }
    expect(Math.min(...counts)).toBeGreaterThan(500)
  })
})
