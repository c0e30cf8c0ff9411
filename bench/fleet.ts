// What a fleet costs and withstands, and what it gains on large histories. Needs the build. Writes
// bench/fleet.md, bench/fleet-large.md and bench/fleet-siege.md.
//
//   npm run bench:fleet -- [--jobs 10000] [--turns 4] [--large 100000] [--siege 2000]

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readOptions } from './arguments.ts'
import { measureCost } from './fleet-cost.ts'
import { measureLarge } from './fleet-large.ts'
import { measureSiege } from './fleet-siege.ts'

const RESULTS = resolve(import.meta.dirname)

const flags = readOptions<{ jobs: string; turns: string; large: string; siege: string }>(
  'npm run bench:fleet --',
  'measures what a fleet costs and withstands, and writes bench/fleet.md, fleet-large.md, fleet-siege.md',
  [
    ['--jobs <n>', 'checks in all, half of them runs, half of them files; 0: none', '10000'],
    ['--turns <n>', 'parts that the loop and the fleet do in turn', '4'],
    ['--large <n>', 'transactions of one history that is spread over the fleet; 0: none', '100000'],
    ['--siege <n>', 'jobs of each night that is besieged; 0: none', '2000'],
  ],
)
const [jobs, turns] = [Number(flags.jobs), Number(flags.turns)]
const [large, siege] = [Number(flags.large), Number(flags.siege)]
const folder = mkdtempSync(join(tmpdir(), 'isobar-bench-fleet-'))
chmodSync(folder, 0o711)

/** @param option what made it */
function write(name: string, title: string, option: string, lines: readonly string[]): void {
  const head = [`# ${title}`, '', `Made by \`npm run bench:fleet -- ${option}\`.`, '']
  writeFileSync(join(RESULTS, name), `${[...head, ...lines].join('\n')}\n`)
}

try {
  if (jobs > 0) {
    const option = `--jobs ${jobs} --turns ${turns}`
    write('fleet.md', 'A fleet', option, await measureCost(folder, jobs, turns))
  }
  if (large > 0) {
    const option = `--large ${large}`
    write('fleet-large.md', 'Large histories', option, await measureLarge(folder, large))
  }
  if (siege > 0) {
    const option = `--siege ${siege}`
    write('fleet-siege.md', 'A fleet under siege', option, await measureSiege(folder, siege))
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
