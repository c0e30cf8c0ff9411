import { spawn, spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readHistory } from '../../src/formats/open.ts'
import { makeFolder } from '../cli/command.ts'

const folder = makeFolder()

function makePipe(): string {
  const path = join(folder, 'pipe')
  rmSync(path, { force: true })
  spawnSync('mkfifo', [path])
  return path
}

class Enough extends Error {}

/** Gives up when it was asked so often. */
function after(times: number): () => void {
  return () => {
    if (--times <= 0) throw new Enough()
  }
}

describe.runIf(process.platform !== 'win32')('reading a named pipe', () => {
  it('gives up when it is told to, while nobody writes', async () => {
    await expect(readHistory(makePipe(), { onWait: after(3) })).rejects.toThrow(Enough)
  })

  it('gives up when it is told to, while a writer is silent', async () => {
    const path = makePipe()
    const writer = spawn('sh', ['-c', `(echo 's0: w(x,1)'; exec sleep 60) > '${path}'`], {
      stdio: 'ignore',
    })
    await expect(readHistory(path, { onWait: after(8) })).rejects.toThrow(Enough)
    writer.kill('SIGKILL')
  })

  it('reads all that a late writer gives', async () => {
    const path = makePipe()
    const lines = Array.from({ length: 20_000 }, (_, i) => `s${i % 7}: w(k${i},1)`).join('\n')
    const source = join(folder, 'source.txt')
    writeFileSync(source, `${lines}\n`)
    spawn('sh', ['-c', `sleep 0.3; cat '${source}' > '${path}'`], { stdio: 'ignore' })
    const { history } = await readHistory(path)
    expect(history.txnCount).toBe(20_000)
  })

  it('takes a writer that gives nothing for an empty history', async () => {
    const path = makePipe()
    spawn('sh', ['-c', `sleep 0.2 > '${path}'`], { stdio: 'ignore' })
    expect((await readHistory(path)).history.txnCount).toBe(0)
  })
})
