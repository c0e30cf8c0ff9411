// The verdict in the words of Jepsen's Elle: the same keys (valid?, anomaly-types, anomalies with
// cycle and steps, not, also-not), the same names of models and anomalies, as EDN or JSON. Main
// function: describeElle.

import { Deadline } from '../base/deadline.ts'
import {
  ABORTED,
  APPEND,
  COMMITTED,
  type History,
  listOf,
  NONE,
  READ_LIST,
  READ_ROWS,
  rowsOf,
  WRITE,
} from '../history/history.ts'
import type { Value } from '../history/values.ts'
import { JEPSEN_MODELS, type JepsenModel, weakerModels } from '../levels/jepsen.ts'
import { adyaNames } from '../verdict/adya.ts'
import {
  type Anomaly,
  type Edge,
  INITIAL_TXN,
  type LevelResult,
  storyOf,
} from '../verdict/verdict.ts'
import { type Edn, keyword } from './edn.ts'
import { describeCycle } from './elle-words.ts'
import { timeToTell } from './told.ts'
import { describeRead } from './words.ts'

/** Steps that are not called by their kind in small letters. */
const STEP_TYPES: Record<string, string> = { SO: 'process', RT: 'realtime' }

/**
 * @param asked the models in question
 * @param results one for each of JEPSEN_MODELS, in that order
 * @param deadline when it runs out, one anomaly of each kind is told
 */
export function describeElle(
  history: History,
  asked: readonly JepsenModel[],
  results: readonly LevelResult[],
  deadline: Deadline = Deadline.none(),
): Edn {
  const verdictOf = (model: JepsenModel) => results[JEPSEN_MODELS.indexOf(model)]!.verdict
  const violated = JEPSEN_MODELS.filter((model) => verdictOf(model) === 'violated')
  const isWeakest = (model: JepsenModel) =>
    !weakerModels(model).some((weaker) => verdictOf(weaker) === 'violated')
  const found = findAnomalies(history, asked, results, deadline)
  const types = Object.keys(found).sort()
  const result: { [name: string]: Edn } = {
    'valid?': validity(asked.map(verdictOf)),
    'anomaly-types': types.map(keyword),
    anomalies: found,
    not: { set: violated.filter(isWeakest).map(({ name }) => keyword(name)) },
    'also-not': { set: violated.filter((m) => !isWeakest(m)).map(({ name }) => keyword(name)) },
  }
  const reasons = asked.flatMap((model) => results[JEPSEN_MODELS.indexOf(model)]!.reason ?? [])
  if (reasons.length > 0) result['reason'] = [...new Set(reasons)].join('; ')
  return result
}

function validity(verdicts: readonly string[]): Edn {
  if (verdicts.includes('violated')) return false
  return verdicts.includes('unknown') ? keyword('unknown') : true
}

/** Anomalies by their names, of the models in question and the weaker ones, each told once. */
function findAnomalies(
  history: History,
  asked: readonly JepsenModel[],
  results: readonly LevelResult[],
  deadline: Deadline,
): { [name: string]: Edn[] } {
  const relevant = new Set(asked.flatMap((model) => [...weakerModels(model), model]))
  const found: { [name: string]: Edn[] } = {}
  const told = new Set<string>()
  JEPSEN_MODELS.forEach((model, i) => {
    if (!relevant.has(model)) return
    const isTold = timeToTell(deadline)
    for (const anomaly of results[i]!.anomalies) {
      if (!isTold(anomaly)) continue
      const example = storyOf(anomaly)
      for (const name of namesOf(history, anomaly)) {
        const story = `${name} ${example}`
        if (told.has(story)) continue
        told.add(story)
        found[name] ??= []
        found[name].push(describeAnomaly(history, anomaly, name))
      }
    }
  })
  return found
}

function namesOf(history: History, anomaly: Anomaly): string[] {
  const names = adyaNames(history, anomaly)
  // Elle tells cycles of items from those of predicates.
  const onItems = (name: string) => name.replace(/^G-(single|nonadjacent)/, '$&-item')
  if (names.length > 0) return names.map(onItems)
  // Neither Adya nor Jepsen has a word for the others: `LostCommit` becomes `lost-commit`.
  if (anomaly.name === 'ThinAirRead') return ['unwritten']
  return [anomaly.name.replace(/(?<=[a-z])[A-Z]/g, '-$&').toLowerCase()]
}

function describeAnomaly(history: History, anomaly: Anomaly, type: string): Edn {
  const { edges, cases, ops, txns } = anomaly
  if (cases.length > 0) {
    return { type: keyword(type), txns: txns.map((txn) => describeOp(history, txn)) }
  }
  if (edges.length > 0) {
    const loop = [...edges.map((edge) => edge.from), edges[0]!.from]
    return {
      cycle: loop.map((txn) => describeOp(history, txn)),
      steps: edges.map((edge) => describeStep(history, edge)),
      type: keyword(type),
      explanation: describeCycle(history, edges),
    }
  }
  const [read = NONE, other = NONE] = ops
  const described: { [name: string]: Edn } = {
    op: describeOp(history, history.opTxn[read]!),
    mop: describeMop(history, read),
    type: keyword(type),
    explanation: describeRead(history, anomaly.name, ops),
  }
  if (other !== NONE) described['writer'] = describeOp(history, history.opTxn[other]!)
  return described
}

/** A transaction as the history of a Jepsen test has it. */
function describeOp(history: History, txn: number): Edn {
  if (txn === INITIAL_TXN) return keyword('initial')
  const label = history.txnLabel(txn)
  const status = history.txnStatus[txn]!
  const start = history.txnOpStart[txn]!
  const mops = { length: history.txnOpStart[txn + 1]! - start }
  return {
    index: typeof label === 'number' ? label : txn + 1,
    type: keyword(status === COMMITTED ? 'ok' : status === ABORTED ? 'fail' : 'info'),
    process: history.sessionLabel(history.txnSession[txn]!),
    f: keyword('txn'),
    value: Array.from(mops, (_, i) => describeMop(history, start + i)),
  }
}

function describeMop(history: History, op: number): Edn {
  const kind = history.opKind[op]!
  const key = symbol(history.keyName(history.opKey[op]!))
  if (kind === READ_LIST) return [keyword('r'), key, listOf(history, op).map(symbol)]
  if (kind === READ_ROWS) return [keyword('rows'), key, rowsOf(history, op).flat().map(symbol)]
  const verb = kind === APPEND ? 'append' : kind === WRITE ? 'w' : 'r'
  return [keyword(verb), key, symbol(history.valueOf(op))]
}

function describeStep(history: History, edge: Edge): Edn {
  const type = STEP_TYPES[edge.kind] ?? edge.kind.toLowerCase()
  const step: { [name: string]: Edn } = { type: keyword(type) }
  if (edge.kind === 'SO') {
    const session = history.txnSession[edge.from]
    if (session === undefined || session !== history.txnSession[edge.to]) return step
    return { ...step, process: history.sessionLabel(session) }
  }
  if (edge.kind === 'RT') {
    const [completed, invoked] = [history.txnFinishTime!, history.txnStartTime!]
    return { ...step, completed: completed[edge.from]!, invoked: invoked[edge.to]! }
  }
  const index = (op: number) => op - history.txnOpStart[history.opTxn[op]!]!
  const [first = NONE, second = NONE] = edge.ops
  step['key'] = symbol(history.keyName(edge.key))
  if (second === NONE) return { ...step, 'b-mop-index': index(first) }
  step['value'] = edge.kind === 'RW' ? versionOf(history, edge) : symbol(history.valueOf(first))
  if (edge.kind === 'RW' || edge.kind === 'WW') step["value'"] = symbol(history.valueOf(second))
  return { ...step, 'a-mop-index': index(first), 'b-mop-index': index(second) }
}

/** What the reader of an anti-dependency saw: an element or a value, nil for the initial state. */
function versionOf(history: History, edge: Edge): Edn {
  const seen = edge.premises[0]
  if (seen === undefined || seen.from === INITIAL_TXN) return null
  return symbol(history.valueOf(seen.ops[0]!))
}

/** What was a keyword is one again. */
function symbol(value: Value): Edn {
  return typeof value === 'string' && /^:[^\s"(){}[\],;]+$/.test(value)
    ? keyword(value.slice(1))
    : value
}
