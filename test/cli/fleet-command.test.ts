import { describe, expect, it } from 'vitest'
import { isobar, makeFolder, put } from './command.ts'

const folder = makeFolder()
const fleet = (...args: string[]) => isobar(['fleet', ...args], undefined, { cwd: folder })

describe('isobar fleet', () => {
  it('says where a plan is wrong, and starts nothing', () => {
    put(folder, 'slip.yaml', 'targets: [sim:si]\nsede: 1..3\n')
    const { code, err } = fleet('run', 'slip.yaml')
    expect(code).toBe(2)
    expect(err).toMatch(
      /^isobar: slip\.yaml:2:1: the plan has no "sede"\nhint: did you mean seeds\?/,
    )
    put(folder, 'nothing.yaml', 'histories: nowhere\nlevels: si\n')
    expect(fleet('run', 'nothing.yaml')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^isobar: nothing\.yaml:1:12: /),
    })
    expect(fleet('run', 'missing.yaml')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/missing\.yaml: /),
    })
  })

  it('knows its actions', () => {
    expect(fleet('rnu', 'plan.yaml')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/no action "rnu"\nhint: did you mean run\?/),
    })
    expect(fleet('run').err).toContain('fleet run needs a plan')
    expect(fleet('status', 'plan.yaml').err).toContain('fleet status takes no file')
    expect(fleet('--help').out).toContain('isobar fleet run plan.yaml')
  })

  it('needs a place for results beside a queue in Redis, and a queue that is one', () => {
    put(folder, 'plan.yaml', 'targets: [sim:si]\n')
    const at = (...place: string[]) => fleet('run', 'plan.yaml', ...place)
    expect(at('--queue', 'redis://127.0.0.1:1')).toMatchObject({
      code: 2,
      err: expect.stringContaining('needs --results postgres://'),
    })
    expect(at('--queue', 'http://127.0.0.1').err).toContain('in PostgreSQL or in Redis')
  })

  it('ends when the server of its queue cannot be reached', () => {
    put(folder, 'plan.yaml', 'targets: [sim:si]\n')
    const place = ['--queue', 'postgres://me@127.0.0.1:1/x?sslmode=disable', '--patience', '1s']
    expect(fleet('run', 'plan.yaml', ...place)).toMatchObject({
      code: 4,
      err: expect.stringContaining("the fleet's server cannot be reached"),
    })
  })
})
