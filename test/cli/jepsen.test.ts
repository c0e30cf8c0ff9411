// `isobar check` for users of Jepsen: models by name, session order off, Elle's keys, a store.

import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isobar, makeFolder, put } from './command.ts'

const folder = makeFolder()
const pair = (process: number, index: number, value: string) =>
  `{:index ${index}, :type :invoke, :process ${process}, :f :txn, :value ${value}}\n` +
  `{:index ${index + 1}, :type :ok, :process ${process}, :f :txn, :value ${value}}\n`
// Process 0 does not see what it appended itself.
const EDN = `${pair(0, 0, '[[:append 7 1]]')}${pair(0, 2, '[[:r 7 []]]')}${pair(1, 4, '[[:r 7 [1]]]')}`
mkdirSync(join(folder, 'run'))
put(join(folder, 'run'), 'history.edn', EDN)
symlinkSync('run', join(folder, 'latest'))
const store = join(folder, 'latest')

describe('isobar check for Jepsen', () => {
  it('takes levels by Jepsen’s names, with session order only where the name says so', () => {
    expect(isobar(['check', store, '--level', 'serializable']).code).toBe(0)
    expect(isobar(['check', store, '--level', 'strong-session-serializable']).code).toBe(1)
    expect(isobar(['check', store, '--level', 'read-committed,causal-cerone']).code).toBe(0)
    expect(isobar(['check', store, '--level', 'causal']).code).toBe(1)
    expect(isobar(['check', store, '--level', 'ser', '--session-order', 'off']).code).toBe(0)
    const single = isobar(['check', store, '--level', 'sequential'])
    expect(single).toMatchObject({ code: 2, err: expect.stringContaining('of single objects') })
    const { code, err } = isobar(['check', store, '--level', 'causality'])
    expect(code).toBe(2)
    expect(err).toContain('monotonic-atomic-view')
    expect(isobar(['check', store, '--session-order', 'maybe']).code).toBe(2)
  })

  it('says that session order was left out, and certifies without it', () => {
    const certificate = join(folder, 'certificate.json')
    const flags = ['--session-order', 'off', '--level', 'ser,sser']
    const { out } = isobar(['check', store, ...flags, '--certificate', certificate])
    expect(out).toContain('ser   satisfied  Serializability without session order')
    expect(out).toContain('StaleRead (G-single-realtime)')
    expect(isobar(['verify', store, certificate])).toMatchObject({ code: 0 })
    const json = JSON.parse(isobar(['check', store, ...flags, '--json']).out)
    expect(json.results[0]).toMatchObject({ level: 'ser', sessionOrder: false })
  })

  it('prints EDN and JSON with the keys of Elle', () => {
    const edn = isobar(['check', folder, '--elle', '--level', 'strong-session-serializable'])
    expect(edn.code).toBe(1)
    expect(edn.out).toContain('{:valid? false,\n :anomaly-types [:G-single-item-process],')
    expect(edn.out).toContain(':not #{:causal}')
    const json = isobar(['check', store, '--elle', 'json', '--level', 'snapshot-isolation'])
    expect(json.code).toBe(0)
    expect(JSON.parse(json.out)).toMatchObject({ 'valid?': true, 'anomaly-types': [] })
    expect(isobar(['check', store, '--elle', '--level', 'repeatable-read']).code).toBeLessThan(2)
    expect(isobar(['check', store, '--elle', 'xml']).code).toBe(2)
    expect(isobar(['check', store, '--elle', '--json']).code).toBe(2)
  })
})
