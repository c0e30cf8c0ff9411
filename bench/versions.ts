// Measures every level on histories that carry the order of their versions, against rc on the same
// file: whole processes, processor time and peak memory. Writes bench/versions.md, unless only some
// stores or levels are asked for.
//
//   npm run bench:versions -- [--txns 1e6] [--runs 3] [--store si] [--level ser+lin,stale]
//
// A transaction's version is its place in the order of the simulated store's commits.

import { createReadStream, createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream/promises'
import { LEVELS } from '../src/levels/levels.ts'
import { readOptions } from './arguments.ts'
import { generate, measureCheck } from './measure.ts'

const REPORT = join(resolve(import.meta.dirname, '..'), 'bench/versions.md')

const flags = readOptions<{ txns: string; runs: string; store: string; level: string }>(
  'npm run bench:versions --',
  'measures every level where versions are known, and writes bench/versions.md unless only some are asked for',
  [
    ['--txns <n>', 'transactions', '1e6'],
    ['--runs <n>', 'how often each is run', '3'],
    ['--store <level>', 'only this store', ''],
    ['--level <levels>', 'only these levels, and rc', ''],
  ],
)

/** Of `mixed` and `lin`, these histories have nothing to judge. */
const ASKED = LEVELS.map(({ id }) => id).filter((id) => id !== 'mixed' && id !== 'lin')
const chosen = flags.level === '' ? ASKED : flags.level.split(',')
/** On fewer keys there is more that a level which the store does not keep can find. */
const STORES = [
  { store: 'ser', keys: 100_000 },
  { store: 'si', keys: 10_000 },
  { store: 'pc', keys: 10_000 },
].filter(({ store }) => store.includes(flags.store))
const shape = ['--sessions', '50', '--ops', '8']

const folder = mkdtempSync(join(tmpdir(), 'isobar-versions-'))
const lines: string[] = []
try {
  for (const { store, keys } of STORES) {
    const plain = join(folder, 'plain.jsonl')
    const file = join(folder, 'versions.jsonl')
    const size = ['--transactions', String(Number(flags.txns)), '--keys', String(keys)]
    generate(plain, ['--store', store, ...size, ...shape])
    await pipeline(numbered(plain), createWriteStream(file))
    const seconds = new Map<string, number>()
    for (const level of ['rc', ...chosen.filter((id) => id !== 'rc')]) {
      const runs = Number(flags.runs)
      const { cpuS, peakMb, output } = measureCheck(file, ['--level', level], runs, null, true)
      seconds.set(level, cpuS)
      const [result] = JSON.parse(output).results
      const ratio = cpuS / seconds.get('rc')!
      const name = `${store}, ${keys.toLocaleString('en')}`
      const cells = [name, `\`${level}\``, result.verdict, cpuS.toFixed(2), ratio.toFixed(2)]
      lines.push(`| ${[...cells, peakMb.toFixed(0)].join(' | ')} |`)
      process.stdout.write(`${lines.at(-1)}\n`)
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** The lines of a file in commit order, each transaction with its place as its version. */
async function* numbered(path: string): AsyncGenerator<string> {
  let version = 0
  let batch: string[] = []
  for await (const line of createInterface({ input: createReadStream(path) })) {
    batch.push(line.replace('"ops":', () => `"version":${++version},"ops":`))
    if (batch.length < 10_000) continue
    yield `${batch.join('\n')}\n`
    batch = []
  }
  yield `${batch.join('\n')}\n`
}

const machine = `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB`
const report = `# Every level where the order of versions is known

Node ${process.version}, ${machine}.
${Number(flags.txns).toLocaleString('en')} transactions of 8 operations in 50 sessions, native format, of stores that keep one level; the version of a
transaction is its place in the order of commits. Whole process, reading and verifying included: median processor seconds of ${flags.runs},
against \`rc\` on the same file, and peak resident memory. \`npm run bench:versions\` makes it again.

| store, keys | level | verdict | processor s | of rc's | peak MB |
|---|---|---|---|---|---|
${lines.join('\n')}
`
if (flags.store === '' && flags.level === '') writeFileSync(REPORT, report)
