// The fingerprint of a violation: the same for all that differ in nothing but the names of keys,
// values, sessions and transactions, and in how the state came about from which they start. It is
// made of the evidence of the shrunk history: the level, the anomaly, and what its transactions did
// to each other, in canonical form.
//
// The evidence is a small graph whose nodes are transactions and whose edges have a kind and a key.
// Colours are refined until they tell as much apart as neighbours can (Weisfeiler & Leman). Then
// the nodes are gone through in every order that the colours leave open, keys are numbered as they
// come up, and the least description wins. Orders are limited: beyond that many, two descriptions
// of one graph may differ, which costs a finding that is there twice, and never joins two that are
// not the same. A violation without evidence is told from others by all of its history. Main
// function: fingerprintOf.

import { createHash } from 'node:crypto'
import type { History } from '../history/history.ts'
import { renderNotation } from '../history/render-notation.ts'
import { type Anomaly, findEdges, INITIAL_TXN, type LevelResult } from '../verdict/verdict.ts'

/** Orders that are tried. */
const MAX_ORDERS = 5040
const DIGITS = 12

interface Arrow {
  readonly kind: string
  readonly from: number // node
  readonly to: number
  readonly key: number
}

/** @param result violated, of a history that was shrunk */
export function fingerprintOf(history: History, result: LevelResult): string {
  const stories = result.anomalies.map((anomaly) => [anomaly.name, describe(history, anomaly)])
  const order = result.sessionOrder === false ? 'without session order' : ''
  const whole = stories.length > 0 ? [] : [renderNotation(history)]
  const text = JSON.stringify([result.level, order, stories.sort(), ...whole])
  return createHash('sha256').update(text).digest('hex').slice(0, DIGITS)
}

/** What the transactions of an example did to each other, the same whatever they are called. */
function describe(history: History, anomaly: Anomaly): string {
  const nodes = new Map<number, number>()
  const nodeOf = (txn: number) => {
    const node = nodes.get(txn) ?? nodes.size
    nodes.set(txn, node)
    return node
  }
  for (const txn of anomaly.txns) nodeOf(txn)
  const steps =
    anomaly.edges.length > 0 ? anomaly.edges : [...findEdges([], anomaly.cases)].filter(isPlain)
  const arrows = steps.map(({ kind, from, to, key }): Arrow => {
    return {
      kind,
      from: nodeOf(from),
      to: nodeOf(to),
      key: kind === 'SO' || kind === 'RT' ? -1 : key,
    }
  })
  // Reads that prove the point by themselves: the reader, and who wrote what it saw.
  for (const [i, op] of anomaly.ops.entries()) {
    const txn = history.opTxn[op] ?? INITIAL_TXN
    const node = nodeOf(txn)
    arrows.push({ kind: `op${i}`, from: node, to: node, key: history.opKey[op] ?? -1 })
  }
  if (anomaly.absence) {
    arrows.push({ kind: 'absence', from: 0, to: 0, key: anomaly.absence.key })
  }
  const initial = nodes.get(INITIAL_TXN) ?? -1
  return canonical(nodes.size, initial, arrows)
}

function isPlain({ premises }: { premises: readonly unknown[] }): boolean {
  return premises.length === 0
}

function canonical(count: number, initial: number, arrows: readonly Arrow[]): string {
  const colours = refine(count, initial, arrows)
  let least: string | null = null
  let orders = 0
  for (const order of ordersOf(colours)) {
    const text = describeIn(order, initial, arrows)
    if (least === null || text < least) least = text
    if (++orders === MAX_ORDERS) break
  }
  return least ?? ''
}

/** A colour for each node, by what is around it. */
function refine(count: number, initial: number, arrows: readonly Arrow[]): string[] {
  let colours: string[] = Array.from({ length: count }, (_, node) =>
    node === initial ? 'initial' : '',
  )
  for (let round = 0; round < count; round++) {
    colours = colours.map((colour, node) => {
      const around: string[] = []
      for (const { kind, from, to } of arrows) {
        if (from === node) around.push(`${kind}>${colours[to]}`)
        if (to === node) around.push(`${kind}<${colours[from]}`)
      }
      const text = JSON.stringify([colour, around.sort()])
      return createHash('sha256').update(text).digest('base64').slice(0, 12)
    })
  }
  return colours
}

/** Every order of the nodes in which colours come one after the other. */
function* ordersOf(colours: readonly string[]): Generator<number[]> {
  const names = [...new Set(colours)].sort()
  const classes = names.map((name) =>
    colours.flatMap((colour, node) => (colour === name ? [node] : [])),
  )
  const slots = classes.flatMap((nodes) => nodes.map(() => nodes))
  const chosen: number[] = []
  const tried = slots.map(() => 0)
  // Counts through the choices of each slot, the last one fastest.
  for (let slot = 0; slot >= 0; ) {
    if (slot === slots.length) {
      yield [...chosen]
      slot--
      chosen.pop()
      continue
    }
    const nodes = slots[slot]!
    while (tried[slot]! < nodes.length && chosen.includes(nodes[tried[slot]!]!)) tried[slot]!++
    if (tried[slot]! >= nodes.length) {
      tried[slot] = 0
      slot--
      chosen.pop()
      continue
    }
    chosen.push(nodes[tried[slot]!]!)
    tried[slot]!++
    slot++
  }
}

/** The arrows with nodes numbered by the order, and keys as they come up. */
function describeIn(order: readonly number[], initial: number, arrows: readonly Arrow[]): string {
  const place = new Map(order.map((node, i) => [node, i]))
  const sorted = arrows
    .map(({ kind, from, to, key }) => ({ kind, from: place.get(from)!, to: place.get(to)!, key }))
    .sort((a, b) => a.from - b.from || a.to - b.to || compare(a.kind, b.kind))
  const keys = new Map<number, number>()
  const words = sorted.map(({ kind, from, to, key }) => {
    if (key >= 0 && !keys.has(key)) keys.set(key, keys.size)
    return `${from}${kind}${to}${key < 0 ? '' : `k${keys.get(key)}`}`
  })
  return `${order.length}:${initial < 0 ? '' : place.get(initial)}:${words.join(' ')}`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
