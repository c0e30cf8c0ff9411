// A cycle in prose as Jepsen's users know it: "T1 < T2, because …", and at the end "However, T2 <
// T1, because …: a contradiction!". Main function: describeCycle.

import { type History, NONE, READ_LIST } from '../history/history.ts'
import { type Edge, INITIAL_TXN } from '../verdict/verdict.ts'
import { assignment, keyOf, nameOf } from './names.ts'
import { because } from './words.ts'

export function describeCycle(history: History, edges: readonly Edge[]): string {
  return edges
    .map((edge, i) => {
      const claim = `${nameOf(history, edge.from)} < ${nameOf(history, edge.to)}`
      const reason = reasonOf(history, edge)
      if (i < edges.length - 1) return `${claim}, because ${reason}.`
      return `However, ${claim}, because ${reason}: a contradiction!`
    })
    .join('\n')
}

function reasonOf(history: History, edge: Edge): string {
  const from = nameOf(history, edge.from)
  const to = nameOf(history, edge.to)
  const [first = NONE, second = NONE] = edge.ops
  switch (edge.kind) {
    case 'SO':
      if (edge.from === INITIAL_TXN) return because(history, edge)
      if (history.txnSession[edge.from] !== history.txnSession[edge.to])
        return because(history, edge)
      return `process ${history.sessionLabel(history.txnSession[edge.from]!)} executed ${from} before ${to}`
    case 'RT':
      return `${from} completed at index ${history.finishText(edge.from)}, before the invocation of ${to}, at index ${history.startText(edge.to)}`
    case 'WR':
      if (second === NONE) return because(history, edge)
      return history.opKind[second] === READ_LIST
        ? `${to} observed ${from}'s ${assignment(history, first)}`
        : `${to} read ${assignment(history, second)}, written by ${from}`
    case 'WW':
      if (edge.premises.length > 0 || edge.assumed) return because(history, edge)
      return `${to}'s ${assignment(history, second)} came after ${from}'s ${assignment(history, first)}`
    case 'RW': {
      const missed = `${to}'s ${assignment(history, second)}`
      return edge.premises[0]?.from === INITIAL_TXN
        ? `${from} observed the initial state of key ${keyOf(history, edge.key)}, before ${missed}`
        : `${from} did not observe ${missed}`
    }
    default:
      return because(history, edge)
  }
}
