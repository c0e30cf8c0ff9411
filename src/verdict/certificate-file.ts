// Certificates as files: the evidence of a list of verdicts in JSON, in the dense numbering of the
// history (transactions and operations in the order of the input), so that `isobar verify` can
// check it against the history alone. Whatever a file says is checked for shape here and for truth
// by certify. Main functions: writeCertificate, parseCertificate.

import { InputError } from '../base/errors.ts'
import { type History, NONE } from '../history/history.ts'
import { findAnomaly } from '../levels/anomalies.ts'
import { findLevel } from '../levels/levels.ts'
import type { Anomaly, Case, Edge, LevelResult, Proof } from './verdict.ts'

const VERSION = 1
const KINDS = new Set(['SO', 'WR', 'WW', 'RW', 'RT', 'CO'])
const MAX_DEPTH = 200

/** The text of a certificate for these results; there is nothing to verify of unknown ones. */
export function writeCertificate(history: History, results: readonly LevelResult[]): string {
  return JSON.stringify({
    isobarCertificate: VERSION,
    history: fingerprint(history),
    results: results.map(({ level, sessionOrder, abortedReads, verdict, anomalies, proof }) => ({
      level,
      ...(sessionOrder === false ? { sessionOrder } : {}),
      ...(abortedReads ? { abortedReads } : {}),
      verdict,
      anomalies: anomalies.map(({ name, count, txns, earlier, ops, edges, cases, absence }) => ({
        name,
        count,
        txns,
        earlier,
        ops,
        edges,
        cases,
        ...(absence ? { absence } : {}),
      })),
      proof: proof === null ? null : describeProof(proof),
    })),
  })
}

/** Numbers that tell a certificate for another history at once. */
function fingerprint(history: History) {
  const { sessionCount, txnCount, opCount, keyCount } = history
  return { sessions: sessionCount, transactions: txnCount, operations: opCount, keys: keyCount }
}

function describeProof(proof: Proof) {
  if (proof.kind === 'commit-order') return { kind: proof.kind, order: Array.from(proof.order) }
  if (proof.kind === 'snapshots') return { kind: proof.kind, events: Array.from(proof.events) }
  if (proof.kind === 'witness') {
    const choices = proof.choices.map(({ event, key, txn }) => [event, key, txn])
    return { kind: proof.kind, order: Array.from(proof.order), choices }
  }
  return proof
}

/** Reads a certificate back. Throws InputError if it is damaged or for another history. */
export function parseCertificate(text: string, history: History): LevelResult[] {
  let data: unknown
  try {
    data = JSON.parse(text)
  } catch {
    throw bad('it is not JSON')
  }
  const file = object(data, 'the certificate')
  if (file['isobarCertificate'] !== VERSION) throw bad('it is not a certificate of this version')
  const expected = fingerprint(history)
  const found = object(file['history'], 'history')
  for (const [name, count] of Object.entries(expected)) {
    if (found[name] !== count) {
      throw bad(`it is for another history (${name}: ${String(found[name])} instead of ${count})`)
    }
  }
  const results = list(file['results'], 'results')
  if (results.length === 0) throw bad('it holds no verdict')
  return results.map(parseResult)
}

function parseResult(value: unknown): LevelResult {
  const result = object(value, 'a result')
  const level = findLevel(String(result['level']))
  if (!level) throw bad(`unknown level ${JSON.stringify(result['level'])}`)
  const verdict = result['verdict']
  if (verdict !== 'satisfied' && verdict !== 'violated' && verdict !== 'unknown') {
    throw bad('a verdict is missing')
  }
  return {
    level: level.id,
    ...(result['sessionOrder'] === false ? { sessionOrder: false } : {}),
    ...(result['abortedReads'] === 'ignore' ? { abortedReads: 'ignore' } : {}),
    verdict,
    reason: null,
    impliedBy: null,
    algorithm: 'certificate',
    elapsedMs: 0,
    stages: {},
    anomalies: list(result['anomalies'], 'anomalies').map(parseAnomaly),
    proof: result['proof'] === null ? null : parseProof(object(result['proof'], 'proof')),
    certificate: null,
  }
}

function parseProof(proof: Record<string, unknown>): Proof {
  if (proof['kind'] === 'none') return { kind: 'none' }
  if (proof['kind'] === 'commit-order') {
    return { kind: 'commit-order', order: Int32Array.from(integers(proof['order'], 'order')) }
  }
  if (proof['kind'] === 'snapshots') {
    return { kind: 'snapshots', events: Int32Array.from(integers(proof['events'], 'events')) }
  }
  if (proof['kind'] === 'witness') {
    const choices = list(proof['choices'], 'choices').map((entry) => {
      const [event = NONE, key = NONE, txn = NONE] = integers(entry, 'a choice')
      return { event, key, txn }
    })
    return { kind: 'witness', order: Int32Array.from(integers(proof['order'], 'order')), choices }
  }
  throw bad(`unknown kind of proof ${JSON.stringify(proof['kind'])}`)
}

function parseAnomaly(value: unknown): Anomaly {
  const anomaly = object(value, 'an anomaly')
  const kind = findAnomaly(String(anomaly['name']))
  if (!kind) throw bad(`unknown anomaly ${JSON.stringify(anomaly['name'])}`)
  const parsed: Anomaly = {
    name: kind.name as Anomaly['name'],
    count: integer(anomaly['count'], 'count'),
    txns: integers(anomaly['txns'], 'txns'),
    earlier: integers(anomaly['earlier'] ?? [], 'earlier'),
    ops: integers(anomaly['ops'], 'ops'),
    edges: list(anomaly['edges'], 'edges').map((edge) => parseEdge(edge, 0)),
    cases: list(anomaly['cases'], 'cases').map(parseCase),
  }
  if (anomaly['absence'] !== undefined) {
    const absence = object(anomaly['absence'], 'absence')
    const [event, key] = [integer(absence['event'], 'event'), integer(absence['key'], 'key')]
    parsed.absence = { event, key }
  }
  return parsed
}

function parseCase(value: unknown): Case {
  const step = object(value, 'a case')
  return {
    assumptions: list(step['assumptions'], 'assumptions').map((edge) => parseEdge(edge, 0)),
    cycle: list(step['cycle'], 'cycle').map((edge) => parseEdge(edge, 0)),
  }
}

function parseEdge(value: unknown, depth: number): Edge {
  if (depth > MAX_DEPTH) throw bad('its premises are nested too deeply')
  const edge = object(value, 'an edge')
  const kind = edge['kind']
  if (typeof kind !== 'string' || !KINDS.has(kind))
    throw bad(`unknown kind of edge ${String(kind)}`)
  const parsed: Edge = {
    from: integer(edge['from'], 'from'),
    to: integer(edge['to'], 'to'),
    kind: kind as Edge['kind'],
    key: integer(edge['key'], 'key'),
    ops: integers(edge['ops'], 'ops'),
    premises: list(edge['premises'], 'premises').map((premise) => parseEdge(premise, depth + 1)),
  }
  if (edge['refutes'] === true) parsed.refutes = true
  if (edge['assumed'] === true) parsed.assumed = true
  if (edge['event'] !== undefined) parsed.event = integer(edge['event'], 'event')
  return parsed
}

function object(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw bad(`${what} is not an object`)
  }
  return value as Record<string, unknown>
}

function list(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) throw bad(`${what} is not a list`)
  return value
}

/** Ids are numbers of 32 bits; larger ones would come out as others. */
function integer(value: unknown, what: string): number {
  if (value !== (value as number) >> 0) throw bad(`${what} is not a whole number of 32 bits`)
  return value as number
}

function integers(value: unknown, what: string): number[] {
  return list(value, what).map((entry) => integer(entry, what))
}

function bad(message: string): InputError {
  return new InputError('bad-certificate', `the certificate cannot be used: ${message}`)
}
