// Finds what somebody asks `isobar explain` about: a level, an anomaly or a small history, by any of
// the names that are in use. Main function: findTopic.

import { ANOMALIES, type AnomalyKind, COMMON_NAMES } from './anomalies.ts'
import { ANOMALY_ENTRIES } from './glossary-anomalies.ts'
import { CASE_ENTRIES, type CaseEntry } from './glossary-cases.ts'
import { LEVEL_ENTRIES, type LevelEntry } from './glossary-levels.ts'
import type { AnomalyEntry } from './lesson.ts'
import { findLevel, type Level } from './levels.ts'
import { findRequest } from './words.ts'

export type Topic =
  | { readonly kind: 'level'; readonly level: Level; readonly entry: LevelEntry }
  | { readonly kind: 'anomaly'; readonly anomaly: AnomalyKind; readonly entry: AnomalyEntry }
  | { readonly kind: 'case'; readonly entry: CaseEntry }

/** What has a history to judge. */
export type HistoryTopic = Exclude<Topic, { kind: 'level' }>

export const TOPICS: readonly Topic[] = [
  ...LEVEL_ENTRIES.map((entry): Topic => ({ kind: 'level', level: findLevel(entry.id)!, entry })),
  ...ANOMALY_ENTRIES.map(
    (entry): Topic => ({
      kind: 'anomaly',
      anomaly: ANOMALIES.find(({ name }) => name === entry.name)!,
      entry,
    }),
  ),
  ...CASE_ENTRIES.map((entry): Topic => ({ kind: 'case', entry })),
]

/** `write-skew`, `WriteSkew`, `write skew`; letters a … n; levels by id or by Jepsen's names. */
export function findTopic(text: string): Topic | null {
  const pattern = ANOMALIES.find(
    ({ name, tap }) => tap === text.trim() || plain(name) === plain(text),
  )
  const wanted = plain(COMMON_NAMES.get(pattern?.name ?? '') ?? pattern?.name ?? text)
  const level = findRequest(text.trim().toLowerCase())?.level
  return (
    TOPICS.find((topic) => plain(nameOf(topic)) === wanted) ??
    TOPICS.find((topic) => topic.kind === 'level' && plain(topic.level.name) === wanted) ??
    TOPICS.find((topic) => topic.kind === 'level' && topic.entry.id === level) ??
    TOPICS.find(
      (topic) => topic.kind === 'anomaly' && plain(topic.anomaly.adya ?? '') === wanted,
    ) ??
    null
  )
}

export function nameOf(topic: Topic): string {
  return topic.kind === 'level' ? topic.entry.id : topic.entry.name
}

/** Every word that one may ask for. */
export function topicNames(): string[] {
  return TOPICS.map((topic) =>
    topic.kind === 'level' ? topic.entry.id : hyphened(topic.entry.name),
  )
}

/** WriteSkew → write-skew; G2-item stays. */
export function hyphened(name: string): string {
  return name
    .replace(/^CO(?=[A-Z])/, 'co-')
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .replace(/-(CO|CM)$/, (ending) => ending.toLowerCase())
    .replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())
    .replace(/-[A-Z]/g, (part) => part.toLowerCase())
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9+]/g, '')
}
