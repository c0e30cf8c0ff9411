// Runs commands of the built command line, one after the other, for thread.ts, and sends back what
// each printed and how it ended. A command that would end the process ends with 70 here.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { fileURLToPath } from 'node:url'
import { workerData } from 'node:worker_threads'
import { run } from '../../dist/cli/main.cjs'

const { port, ended } = workerData
let printed = { out: [], err: [] }

const keep = (name) => (text, encoding, done) => {
  printed[name].push(Buffer.from(text, typeof encoding === 'string' ? encoding : 'utf8'))
  const told = typeof encoding === 'function' ? encoding : done
  if (told) queueMicrotask(told)
  return true
}
process.stdout.write = keep('out')
process.stderr.write = keep('err')
// Histories go past the stream.
const { writeSync } = fs
fs.writeSync = (file, bytes, at = 0, ...rest) => {
  if (file !== 1) return writeSync(file, bytes, at, ...rest)
  process.stdout.write(bytes.subarray(at))
  return bytes.length - at
}
syncBuiltinESMExports()

function answer(code) {
  const [out, err] = [printed.out, printed.err].map((parts) => Buffer.concat(parts).toString())
  printed = { out: [], err: [] }
  port.postMessage({ code, out, err })
  Atomics.store(ended, 0, 1)
  Atomics.notify(ended, 0)
}

function fail(why) {
  process.stderr.write(`isobar: internal error: ${why}\n`)
  answer(70)
}
process.on('uncaughtException', (error) => fail(error?.stack ?? error))
process.exit = (code) => fail(`the process would have ended with ${code}`)

const BIN = fileURLToPath(new URL('../../bin/isobar.js', import.meta.url))
port.on('message', async (args) => {
  process.argv = [process.execPath, BIN, ...args]
  answer(await run(args))
})
