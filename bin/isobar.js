#!/usr/bin/env node
// Starts the built command line. Exit code 1 means "violated", so whatever keeps the program from
// starting (an old Node, a missing build) must end with 70 instead of Node's own 1.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { load } from './code-cache.js'

const major = Number(process.versions.node.split('.')[0])
if (major < 20) {
  process.stderr.write(
    `isobar: Node ${process.versions.node} is too old; Node 20 or later is needed\n`,
  )
  process.exit(70)
}
// A check of a second spends a third of it in the compiler, which is asked to do less: to inline less,
// and to compile a loop that runs at once rather than beside it while it goes on slowly. Processor
// time of checks of 0.4 to 4 s fell by 7 to 26 %, that of longer ones by 3 %. Only versions that are
// known to have these settings get them: others would complain.
if (major <= 24) {
  setFlagsFromString('--no-concurrent-osr')
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=400')
}
process.on('uncaughtException', (error) => {
  process.stderr.write(`isobar: internal error: ${error?.stack ?? error}\n`)
  process.exit(70)
})
const dist = fileURLToPath(new URL('../dist', import.meta.url))
let main
try {
  ;({ main } = load(join(dist, 'cli/main.cjs'), join(dist, 'cache')))
} catch (error) {
  const missing = ['ENOENT', 'MODULE_NOT_FOUND'].includes(error?.code)
  process.stderr.write(
    missing
      ? `isobar: the build is incomplete (${error.message})\nhint: run 'npm run build' in the package folder\n`
      : `isobar: internal error: ${error?.stack ?? error}\n`,
  )
  process.exit(70)
}
await main(process.argv.slice(2))
