// The part of the whole history that is known for certain: the transactions of the window, and of
// those that were let go the writers of the versions that are read here, as far as they wrote
// those. Reads of anything else are left out. No part violates what the whole satisfies, so what
// this part violates, the whole does. Main function: buildKnownPart.

import { addTo } from '../base/maps.ts'
import type { FormatReader } from '../formats/readers.ts'
import { type History, NONE, WRITE } from '../history/history.ts'
import { showValue } from '../history/initial.ts'
import type { Settled, Version } from './settled.ts'
import { leaveOut } from './stand.ts'
import type { Preface, Window } from './window.ts'

export interface KnownPart {
  readonly history: History
  /** Which transactions of the input the first ones are, those that were let go. */
  readonly settledNumbers: readonly number[]
}

export function buildKnownPart(
  window: Window,
  settled: Settled,
  readKeys: readonly number[],
  format: FormatReader,
  isEnd: boolean,
): KnownPart {
  const writers = groupByWriter(readKeys.map((key) => settled.versionOf(key)))
  const preface: Preface = {
    lines: writers.flatMap((versions) => renderWriter(versions, format)),
    numbers: writers.flatMap((versions) =>
      format.id === 'plume' ? versions.map(({ line }) => line) : [versions[0]!.line],
    ),
  }
  const { history } = window.parse(format, preface)
  const settledNumbers = writers.map((versions) => versions[0]!.number)
  return { history: withoutDoubt(history, settled, isEnd), settledNumbers }
}

/** Without reads whose source is not here, though there may be one. */
function withoutDoubt(history: History, settled: Settled, isEnd: boolean): History {
  const { opCount, opKind, opKey, readFrom } = history
  const doubtful: number[] = []
  for (let op = 0; op < opCount; op++) {
    if (opKind[op] === WRITE || readFrom[op] !== NONE) continue
    if (!isEnd || settled.hasGone(settled.keyOf(history.keyName(opKey[op]!)))) doubtful.push(op)
  }
  return doubtful.length > 0 ? leaveOut(history, doubtful) : history
}

/** Versions of one transaction together, transactions in the order of the input. */
function groupByWriter(versions: readonly Version[]): Version[][] {
  const byNumber = new Map<number, Version[]>()
  for (const version of versions) {
    addTo(byNumber, version.number, version)
  }
  return [...byNumber.values()].sort((a, b) => a[0]!.number - b[0]!.number)
}

function renderWriter(versions: readonly Version[], { id }: FormatReader): string[] {
  const { session, label } = versions[0]!
  if (id === 'plume') {
    return versions.map(({ key, value }) => `w(${key},${value},${session},${label})`)
  }
  const ops = versions
    .map(({ key, value }) => `["w",${showValue(key)},${showValue(value)}]`)
    .join(',')
  const named = label === null ? '' : `"id":${showValue(label)},`
  return [`{${named}"session":${showValue(session)},"ops":[${ops}]}`]
}
