// Runs scripts of package.json side by side, as many at once as there are cores, and prints what each
// said when it ends. Fails if one of them does: `node scripts/together.mjs types lint`.

import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'

const waiting = process.argv.slice(2)

async function work() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await run(name)
}

function run(name) {
  const begin = performance.now()
  const said = []
  return new Promise((resolve) => {
    // One string for the shell: on Windows npm is a script of its shell. Names come from package.json.
    const child = spawn(`npm run --silent ${name}`, { shell: true })
    child.stdout.on('data', (part) => said.push(part))
    child.stderr.on('data', (part) => said.push(part))
    child.on('close', (code) => {
      const seconds = ((performance.now() - begin) / 1000).toFixed(0)
      process.stdout.write(`${code === 0 ? 'done' : 'FAILED'}: ${name} (${seconds} s)\n`)
      process.stdout.write(Buffer.concat(said))
      if (code !== 0) process.exitCode = 1
      resolve()
    })
  })
}

await Promise.all(Array.from({ length: availableParallelism() }, work))
