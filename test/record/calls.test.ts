import { MessageChannel } from 'node:worker_threads'
import { afterEach, describe, expect, it } from 'vitest'
import { DatabaseError, InputError, UsageError } from '../../src/base/errors.ts'
import { Calls } from '../../src/record/calls.ts'

let channel: MessageChannel
afterEach(() => channel.port1.close())

/** Calls to these. */
function callsTo(served: ConstructorParameters<typeof Calls>[1]): Calls {
  channel = new MessageChannel()
  new Calls(channel.port2, served)
  return new Calls(channel.port1, {})
}

const thrown = (call: Promise<unknown>) => call.then(() => null).catch((error: unknown) => error)

describe('Calls', () => {
  it('brings back what is returned, to each the own, whatever ends first', async () => {
    const later: (() => void)[] = []
    const calls = callsTo({
      double: async (n: number) => {
        await new Promise<void>((resolve) => later.push(resolve))
        if (later.length === 2) later[0]!()
        return 2 * n
      },
    })
    const [one, two] = [calls.call('double', 1), calls.call('double', 2)]
    channel.port2.once('message', () => queueMicrotask(() => later[1]?.()))
    await new Promise((resolve) => setTimeout(resolve, 20))
    later[1]!()
    expect(await two).toBe(4)
    expect(await one).toBe(2)
  })

  it('brings back errors as what they were', async () => {
    const unwritable = new InputError('unwritable-file', 'no room', null, 'make some')
    unwritable.path = 'history.jsonl'
    const errors = {
      database: new DatabaseError('gone', 'start it'),
      usage: new UsageError('wrong'),
      input: unwritable,
      bug: new TypeError('x is not a function'),
    }
    const calls = callsTo({
      fail: (name: keyof typeof errors) => {
        throw errors[name]
      },
    })
    const database = await thrown(calls.call('fail', 'database'))
    expect(database).toBeInstanceOf(DatabaseError)
    expect(database).toMatchObject({ message: 'gone', hint: 'start it' })
    expect(await thrown(calls.call('fail', 'usage'))).toBeInstanceOf(UsageError)
    const input = await thrown(calls.call('fail', 'input'))
    expect(input).toBeInstanceOf(InputError)
    expect((input as InputError).describe()).toBe('history.jsonl: no room')
    expect(input).toMatchObject({ code: 'unwritable-file', hint: 'make some' })
    const bug = await thrown(calls.call('fail', 'bug'))
    expect(bug).toMatchObject({ name: 'TypeError', message: 'x is not a function' })
    expect((bug as Error).stack).toBe(errors.bug.stack)
  })

  it('tells whoever waits that the other thread is gone, and whoever comes later', async () => {
    const calls = callsTo({ wait: () => new Promise(() => {}) })
    const waits = thrown(calls.call('wait'))
    calls.end(new Error('gone'))
    expect(await waits).toMatchObject({ message: 'gone' })
    expect(await thrown(calls.call('wait'))).toMatchObject({ message: 'gone' })
  })
})
