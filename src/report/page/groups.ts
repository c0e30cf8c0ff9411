// Findings of one kind together: how often it was found, at which levels, and which of its findings
// the page has room for: the first of every kind before the second of any. Main function:
// groupSections.

import { addTo } from '../../base/maps.ts'
import type { LevelId } from '../../levels/levels.ts'
import type { AnomalyJson, VerdictJson } from '../../verdict/verdict-file.ts'
import { countWords } from '../count-words.ts'
import type { Section } from './sections.ts'

export interface Group {
  readonly name: string
  /** The first of them: what kind it is. */
  readonly anomaly: AnomalyJson
  readonly levels: readonly LevelId[]
  /** How often it was found, in words; empty for once. */
  readonly count: string
  /** Those that the page shows, and how many there are. */
  readonly shown: Section[]
  readonly total: number
}

export function groupSections(
  verdict: VerdictJson,
  sections: readonly Section[],
  room: number,
): Group[] {
  const byName = new Map<string, Section[]>()
  for (const section of sections) {
    addTo(byName, section.name, section)
  }
  const kinds = [...byName.values()]
  const shares = shareRoom(
    kinds.map((kind) => kind.length),
    room,
  )
  return kinds.flatMap((kind, i) => {
    const shown = kind.slice(0, shares[i])
    if (shown.length === 0) return []
    const [first] = kind
    const { anomaly } = first!.evidence[0]!
    const all = kind.flatMap(({ evidence }) => evidence.flatMap(({ levels }) => levels))
    const levels = [...new Set(all)]
    const count = countFound(verdict, first!.name, levels)
    return { name: first!.name, anomaly, levels, count, shown, total: kind.length }
  })
}

/** How many of each kind there is room for: one of each first, then in their order. */
function shareRoom(sizes: readonly number[], room: number): number[] {
  const shares = sizes.map((_, i) => (i < room ? 1 : 0))
  let left = room - shares.reduce<number>((sum, share) => sum + share, 0)
  return sizes.map((size, i) => {
    const more = Math.min(left, size - shares[i]!)
    left -= more
    return shares[i]! + more
  })
}

/** The same anomaly is told again at stronger levels: the level that has most of them counts. */
function countFound(verdict: VerdictJson, name: string, levels: readonly LevelId[]): string {
  let most = { count: 0, words: '' }
  for (const { level, anomalies } of verdict.results) {
    const mine = anomalies.filter((anomaly) => anomaly.name === name)
    if (!levels.includes(level) || mine.length === 0) continue
    const count = mine.reduce((sum, anomaly) => sum + anomaly.count, 0)
    if (count > most.count)
      most = {
        count,
        words: countWords({ ...mine[0]!, count }, level, mine[0]!.shared !== undefined),
      }
  }
  return most.words.replace(/^, /, '')
}
