import { describe, expect, it } from 'vitest'
import { findFormat, parseHistory } from '../../../src/formats/formats.ts'

const parse = (header: string) => parseHistory(`${header}\n{"session":0,"unit":7,"ops":[]}\n`)

describe('the unit of times', () => {
  it('comes from the header and goes back into it', () => {
    const history = parse('{"isobar":1,"unit":"ms"}')
    expect(history.timeUnit).toBe('ms')
    let text = ''
    findFormat('native')!.write(history, (bytes) => {
      text += new TextDecoder().decode(bytes)
    })
    expect(text).toMatch(/^\{"isobar":1,"initial":null,"unit":"ms"\}\n/)
    expect(parseHistory(text).timeUnit).toBe('ms')
  })

  it('is unknown where nobody says it, and one of four words where somebody does', () => {
    expect(parse('{"isobar":1}').timeUnit).toBeNull()
    expect(() => parse('{"isobar":1,"unit":"min"}')).toThrow('unknown unit of time "min"')
    expect(() => parse('{"isobar":1,"unit":3}')).toThrow('expected a unit of time')
  })
})
