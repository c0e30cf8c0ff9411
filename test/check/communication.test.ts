import { describe, expect, test } from 'vitest'
import { describeCommunication } from '../../src/check/communication.ts'
import { parseNotation } from '../../src/history/notation.ts'

/** Five sessions: a pair, a triangle and a pair, each joined to the next by one session. */
const CHAIN = `
  s1: w(x,1)
  s2: r(x,1) w(a,1)
  s3: r(a,1) w(b,1)
  s4: r(b,1) r(a,1) w(y,1)
  s5: r(y,1)`

describe('describeCommunication', () => {
  test('counts what sessions share, and the parts that can be decided one by one', () => {
    expect(describeCommunication(parseNotation(CHAIN))).toEqual({
      width: 5,
      isExact: true,
      graph: { edges: 5, components: 1, blocks: 3, largestBlock: 3 },
    })
    const apart = CHAIN.replace('r(x,1) ', '')
    expect(describeCommunication(parseNotation(apart))).toEqual({
      width: 5,
      isExact: true,
      graph: { edges: 4, components: 2, blocks: 3, largestBlock: 3 },
    })
  })

  test('leaves out what does not count, and keys that nobody writes', () => {
    const text = 's1: w(x,1) r(z,null)\ns2: r(x,1) [aborted]\ns3: r(z,null)'
    expect(describeCommunication(parseNotation(text))).toEqual({
      width: 2,
      isExact: true,
      graph: { edges: 0, components: 2, blocks: 2, largestBlock: 1 },
    })
  })

  test('takes those for neighbours that come after one another', () => {
    const text = 's1: w(x,1) [id=A]\ns2: w(y,1) [id=B after=A]'
    expect(describeCommunication(parseNotation(text))).toEqual({
      width: 2,
      isExact: false,
      graph: { edges: 1, components: 1, blocks: 1, largestBlock: 2 },
    })
  })

  test('counts pairs among many sessions', () => {
    const lines = Array.from({ length: 70 }, (_, i) => `s${i}: r(x,${i}) w(x,${i + 1})`)
    lines[0] = 's0: w(x,1)'
    const { width, graph } = describeCommunication(parseNotation(lines.join('\n')))
    expect([width, graph.edges, graph.blocks]).toEqual([70, (70 * 69) / 2, 1])
  })
})
