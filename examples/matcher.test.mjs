// A test of an application: what its clients saw must be serializable.
//
//   npx vitest run examples

import 'isobar/vitest'
import { expect, test } from 'vitest'

/** What the clients of an application noted, an object for each transaction. */
const seen = [
  {
    session: 'alice',
    ops: [
      { r: 'stock', v: null },
      { w: 'stock', v: 7 },
    ],
  },
  {
    session: 'bob',
    ops: [
      { r: 'stock', v: 7 },
      { w: 'stock', v: 6 },
    ],
  },
]

test('the shop is serializable', async () => {
  await expect(seen).toBeIsolated('ser')
})

test('a shop that sells the same piece twice is not', async () => {
  const twice = [
    ...seen,
    {
      session: 'carol',
      ops: [
        { r: 'stock', v: 7 },
        { w: 'stock', v: 5 },
      ],
    },
  ]
  await expect(twice).not.toBeIsolated('ser')
})
