// Records a history while clients work on a store, and judges it. The store here is one that loses
// updates between a read and a write; put your own database in its place.
//
//   node examples/record.mjs

import { check } from 'isobar'

/** Counters without transactions: whoever writes last wins. */
class Store {
  values = new Map()
  async get(key) {
    await new Promise(setImmediate)
    return this.values.get(key) ?? null
  }
  async set(key, value) {
    await new Promise(setImmediate)
    this.values.set(key, value)
  }
}

/** Every write has a value of its own: that is how reads tell what they saw. */
let lastValue = 0

/** Reads a key and replaces it, and notes what it saw. */
async function transact(store, session, key) {
  const start = performance.now()
  const found = await store.get(key)
  const value = ++lastValue
  await store.set(key, value)
  const ops = [
    { r: key, v: found },
    { w: key, v: value },
  ]
  return { session, ops, start, finish: performance.now() }
}

const store = new Store()
const history = []
await Promise.all(
  Array.from({ length: 4 }, async (_, session) => {
    for (let i = 0; i < 10; i++) history.push(await transact(store, session, `key${i % 2}`))
  }),
)
const result = await check(history, 'si')
console.log(`${history.length} transactions: si is ${result.verdict}`)
for (const { name, count } of result.levels[0].anomalies) console.log(`  ${name}, ${count} times`)
