// Parts of SQL histories: what the whole satisfies they satisfy, and what violates a level is
// shrunk to something that still does, and from which nothing more can go.

import { Random } from '../../src/base/random.ts'
import { judge } from '../../src/check/judge.ts'
import type { History } from '../../src/history/history.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import { findPart } from '../../src/history/sub-history.ts'
import type { Parts } from '../../src/verdict/part.ts'
import { partsOf } from '../../src/verdict/parts.ts'
import { shrinkHistory } from '../../src/verdict/shrink.ts'
import { MIXES, type Mix } from '../small/compare-sql.ts'
import { randomSql } from '../small/random-sql.ts'
import { historyOfSql } from '../small/sql-draft.ts'
import type { Property } from './property.ts'

const at = (mix: Mix) => async (history: History) => (await judge(history, [mix]))[0]!

function keep(parts: Parts, isKept: (item: number) => boolean): History {
  const all = Array.from({ length: parts.itemCount }, (_, item) => item)
  const left = findPart(all.filter(isKept), (item) => parts.needs(item))
  return parts.build(left).history
}

async function keepsSqlParts(seed: number): Promise<string | null> {
  const history = historyOfSql(randomSql(seed))
  const random = new Random(seed ^ 0x5a17)
  const mix = random.pick(MIXES)
  const told = (what: string, part: History) =>
    `${mix} ${what}\n${renderNotation(history)}\n${renderNotation(part)}`
  const { verdict } = await at(mix)(history)
  if (verdict === 'satisfied') {
    const share = random.pick([0.5, 0.8, 0.95])
    const part = keep(await partsOf(history), () => random.chance(share))
    const isSame = part.txnCount === 0 || (await at(mix)(part)).verdict === 'satisfied'
    return isSame ? null : told('holds in the whole and not in its part', part)
  }
  const { history: shrunk } = await shrinkHistory(history, at(mix))
  if ((await at(mix)(shrunk)).verdict !== 'violated') return told('holds in what is left', shrunk)
  const parts = await partsOf(shrunk)
  const items = Int32Array.from({ length: parts.itemCount }, (_, item) => item)
  for (const group of parts.groups(items).flat()) {
    const smaller = keep(parts, (item) => !group.includes(item))
    if (smaller.txnCount === 0 || (await at(mix)(smaller)).verdict !== 'violated') continue
    return told('is violated by less than what is left', smaller)
  }
  return null
}

export const SQL_PARTS: Property = { name: 'sql-parts', run: keepsSqlParts }
