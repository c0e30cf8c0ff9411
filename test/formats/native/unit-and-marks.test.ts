import { describe, expect, it } from 'vitest'
import { findFormat } from '../../../src/formats/formats.ts'
import { parseHistory } from '../../../src/formats/parse.ts'

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

describe('marks', () => {
  const read = (line: string) =>
    parseHistory(`{"isobar":1}\n${line}\n{"session":0,"mark":7,"ops":[["w","x",1]]}\n`)

  it('become annotations, and come back when they are written', () => {
    const history = read('{"start":12,"mark":"the server goes down"}')
    const marks = [{ time: 12, source: 'run', text: 'the server goes down' }]
    expect(history.annotations).toEqual(marks)
    expect(history.txnCount).toBe(1)
    let text = ''
    findFormat('native')!.write(history, (bytes) => {
      text += new TextDecoder().decode(bytes)
    })
    expect(parseHistory(text).annotations).toEqual(marks)
  })

  it('say what happened, and when', () => {
    expect(() => read('{"mark":"the server goes down"}')).toThrow('has no "start"')
    expect(() => read('{"mark":7,"start":1}')).toThrow('a string that says what happened')
  })
})
