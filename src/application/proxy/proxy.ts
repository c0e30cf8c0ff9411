// A proxy that speaks PostgreSQL's protocol and records what passes: clients in any language connect
// to it as to the server, and see what they would see there. Main function: startProxy.

import { type AddressInfo, createServer, type Server } from 'node:net'
import { UsageError } from '../../base/errors.ts'
import type { PostgresAddress } from '../../record/postgres/address.ts'
import { Recorded } from '../observe/instrument.ts'
import { Recorder } from '../observe/recorder.ts'
import type { Shared } from '../observe/session.ts'
import { Conversation, type House } from './conversation.ts'
import { connectUpstream } from './upstream.ts'

export interface ProxyOptions {
  /** Where the server is; clients log in by themselves. */
  readonly to: PostgresAddress
  readonly host: string
  /** 0: any that is free. */
  readonly port: number
  /** What is said to whoever runs it. */
  readonly log?: (line: string) => void
}

export class RecordingProxy {
  private readonly conversations = new Set<Conversation>()
  private readonly recorder = new Recorder()
  /** What passed; `stop` completes its file. */
  readonly recorded: Recorded<null>
  /** How many clients have logged in, or tried to. */
  clientCount = 0
  port = 0

  constructor(
    private readonly server: Server,
    { to, log = () => {} }: ProxyOptions,
  ) {
    const { recorder } = this
    const shared: Shared = { recorder, hooks: {}, major: 0, ready: null, isReady: false }
    let recorded: string | null = null
    const house: House = {
      ...{ address: to, shared, log, nextNumber: () => this.clientCount++ },
      isRecorded(database) {
        recorded ??= database
        return recorded === database
      },
    }
    this.recorded = new Recorded(null, shared, () => this.leave())
    server.on('connection', (client) => {
      const ended = () => this.conversations.delete(conversation)
      const conversation = new Conversation(client, house, ended)
      this.conversations.add(conversation)
    })
  }

  /** How many clients are connected. */
  get openCount(): number {
    return this.conversations.size
  }

  /** How many transactions have ended that did something. */
  get transactionCount(): number {
    return this.recorder.endedCount
  }

  private leave(): void {
    this.server.close()
    for (const conversation of [...this.conversations]) conversation.stop()
  }
}

/** Listens for clients. Throws DatabaseError, UsageError. */
export async function startProxy(options: ProxyOptions): Promise<RecordingProxy> {
  const { host, port, to } = options
  const probe = await connectUpstream(to)
  probe.destroy()
  const server = createServer({ allowHalfOpen: true })
  const proxy = new RecordingProxy(server, options)
  await listen(server, host, port)
  proxy.port = (server.address() as AddressInfo).port
  return proxy
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EADDRINUSE'
          ? new UsageError(
              `port ${port} is taken`,
              'choose another with --listen, or any: --listen 0',
            )
          : new UsageError(`cannot listen on ${host}:${port}: ${error.code}`)
      reject(why)
    })
    server.listen(port, host, () => resolve())
  })
}
