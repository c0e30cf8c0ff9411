// What a database really gives, for a terminal: a row a level, what each schedule showed, and what
// differs from what is promised. Main function: renderConformance.

import { counted } from '../base/counted.ts'
import { sentence } from '../base/inert.ts'
import { type LevelId, levelName } from '../levels/levels.ts'
import {
  type Conformance,
  isBroken,
  isTakenBack,
  type LevelOutcome,
  type Outcome,
} from '../verdict/conformance.ts'
import { alignRows } from './align.ts'
import type { Colours } from './text.ts'

export function renderConformance(found: Conformance, colours: Colours): string {
  const parts = [`${found.database} at ${found.place}`, ...tellNodes(found), '']
  const rows = found.levels.map((level) => [
    level.name,
    allowed(level),
    gets(level),
    compared(level),
  ])
  const heads = ['asked for', 'allows', 'one gets', 'promised']
  const [heading, ...lines] = alignRows([heads, ...rows])
  parts.push(colours.strong(heading!))
  found.levels.forEach(({ isWeaker }, i) => {
    parts.push(isWeaker ? colours.bad(lines[i]!) : lines[i]!)
  })
  for (const level of found.levels) parts.push('', ...tellLevel(level, colours))
  return `${parts.join('\n')}\n`
}

/** Where the transactions were played, if there is more than one node. */
export function tellNodes({ nodeCount, replicaCount }: Conformance): string[] {
  const spread = `each transaction of a schedule was played on another of the ${nodeCount} nodes`
  const readers = counted(replicaCount, 'replica')
  const unread = `nothing was played on the ${readers}: this says nothing about what they show`
  return [...(nodeCount > 1 ? [spread] : []), ...(replicaCount > 0 ? [unread] : [])].map(sentence)
}

/** How many of the schedules did what serializability forbids. */
function allowed({ outcomes }: LevelOutcome): string {
  const played = outcomes.filter(({ notPlayed }) => notPlayed === null)
  const count = played.filter(({ violated }) => violated !== null).length
  return count === 0 ? `none of ${played.length}` : `${count} of ${played.length}`
}

/** `rc (Read Committed), but for 2 schedules` */
export function gets({ got, promised, outcomes }: LevelOutcome): string {
  const level = got === null ? 'less than rc' : `${got} (${levelName(got)})`
  const count = outcomes.filter((outcome) => isTakenBack(outcome, promised)).length
  return count === 0 ? level : `${level}, but for ${counted(count, 'schedule')}`
}

/** What one gets against what is promised. */
export function compared({ got, promised, isWeaker, outcomes }: LevelOutcome): string {
  const documented = outcomes.some((outcome) => isTakenBack(outcome, promised))
  if (isWeaker) return `${promised}: weaker than promised`
  if (documented) return `${promised}: as documented`
  return got === promised ? `${promised}: as promised` : `${promised}: more than promised`
}

function tellLevel(level: LevelOutcome, colours: Colours): string[] {
  const { name, promised, outcomes } = level
  const lines = [colours.strong(name)]
  for (const outcome of outcomes) {
    if (outcome.violated === null) continue
    const { schedule, violated } = outcome
    const text = `${schedule.name.padEnd(26)} shows ${outcome.anomalies.join(', ')}, breaks ${violated}`
    lines.push(`  ${isBroken(outcome, promised) ? colours.bad(text) : text}`)
  }
  if (outcomes.every(({ violated }) => violated === null)) lines.push('  nothing went wrong')
  lines.push(...differences(level).map((text) => `  ${text}`))
  const left = outcomes.filter(({ notPlayed }) => notPlayed !== null)
  for (const why of new Set(left.map(({ notPlayed }) => notPlayed!))) {
    const names = left
      .filter(({ notPlayed }) => notPlayed === why)
      .map((each) => each.schedule.name)
    lines.push(colours.faint(`  does not apply, because ${why}: ${names.join(', ')}`))
  }
  return lines
}

/** What is otherwise than promised, in sentences. */
export function differences({ promised, outcomes, name, got }: LevelOutcome): string[] {
  const broken = outcomes.filter((outcome) => isBroken(outcome, promised))
  const told = broken.map(tellBroken(name, promised))
  const sources = new Map<string, string[]>()
  for (const outcome of outcomes) {
    if (!isTakenBack(outcome, promised)) continue
    const { words, source } = outcome.departure!
    const said = `documented: ${words} (${source})`
    sources.set(said, [...(sources.get(said) ?? []), outcome.schedule.name])
  }
  for (const [said, names] of sources) told.push(`${names.join(', ')}: ${said}`)
  if (got !== null && got !== promised && broken.length === 0 && sources.size === 0) {
    told.push(`no schedule shows more than ${got} allows, though only ${promised} is promised`)
  }
  return told.map(sentence)
}

function tellBroken(name: string, promised: LevelId): (outcome: Outcome) => string {
  return ({ schedule, violated, anomalies }) =>
    `${schedule.name}: ${schedule.about}. ${name} promises ${promised}, and ${violated} is violated by ${anomalies.join(', ')}`
}
