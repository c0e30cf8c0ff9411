// Linearizability on histories of the shapes on which Porcupine and others are tried (made by
// lin-histories.ts, since theirs are not ours to keep): verdict and processor time, right and with one wrong
// read, beside what was published of the same shapes. Writes bench/lin.md.
//
//   npm run bench:lin -- [--runs 1] [--only NAME] [--budget 60s]
//
// Logs of etcd are judged one after the other in one process, others each in a process of its own.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { judge } from '../src/check/judge.ts'
import { parseHistory } from '../src/formats/parse.ts'
import { readOptions } from './arguments.ts'
import { etcdLog, type Store, writeStore } from './lin-histories.ts'
import { measureCheck } from './measure.ts'

const REPORT = join(resolve(import.meta.dirname, '..'), 'bench/lin.md')

const flags = readOptions<{ runs: string; only: string; budget: string }>(
  'npm run bench:lin --',
  'judges histories of the shapes that Porcupine is tried on at lin, and writes bench/lin.md',
  [
    ['--runs <n>', 'how often each is run', '1'],
    ['--only <name>', 'only histories whose names have this in them', ''],
    ['--budget <time>', 'for each history', '60s'],
  ],
)

const LOGS = 102
const KNOSSOS =
  'of 100 real ones: a few seconds in all; Knossos is out of time on 2 and out of memory on 4 (README of ahorn/linearizability-checker). Porcupine generally 1,000 to 10,000 times faster than Knossos (its README)'
/** Of each 100 reads, how many are stale; operations that time out; what was published. */
const ETCD: readonly (readonly [
  name: string,
  stale: number,
  timeouts: number,
  published: string,
])[] = [
  ['etcd logs, reads right', 0, 15, KNOSSOS],
  ['etcd logs, some reads stale', 8, 15, 'the same: 79 of the real 102 are not linearizable'],
]

const LARGE =
  'millions of times faster than Knossos with keys apart, says Porcupine’s README, without figures'
const STORES: readonly (readonly [
  name: string,
  store: Omit<Store, 'isWrong'>,
  published: string,
])[] = [
  [
    'appends, 1 client',
    { operations: 30, clients: 1, keys: 2, appends: true },
    'Porcupine’s c01: a test, no figure',
  ],
  ['appends, 10 clients', { operations: 400, clients: 10, keys: 10, appends: true }, LARGE],
  ['appends, 50 clients', { operations: 2000, clients: 50, keys: 10, appends: true }, LARGE],
  ...[8, 12, 16, 20].map(
    (clients) =>
      [
        `register of 100 values, ${clients} clients`,
        { operations: 20_000, clients, keys: 1, values: 100 },
        'among Porcupine’s test data, no figure',
      ] as const,
  ),
  ...[10_000, 100_000, 1_000_000].flatMap((operations) =>
    [1, 1000].map(
      (keys) =>
        [
          `${operations.toLocaleString('en')} operations, ${keys.toLocaleString('en')} ${keys === 1 ? 'key' : 'keys'}, each value once`,
          { operations, clients: 20, keys },
          '',
        ] as const,
    ),
  ),
]

const folder = mkdtempSync(join(tmpdir(), 'isobar-lin-'))
const rows: string[] = []
try {
  for (const [name, stale, timeouts, published] of ETCD) {
    if (name.includes(flags.only)) tell(name, await measureLogs(stale, timeouts), published)
  }
  for (const [name, store, published] of STORES) {
    if (!name.includes(flags.only)) continue
    for (const isWrong of [false, true]) {
      const file = join(folder, 'history.jsonl')
      writeStore(file, { ...store, isWrong })
      const repeated = store.values === undefined ? [] : ['--duplicate-values']
      const args = ['--level', 'lin', '--budget', flags.budget, ...repeated]
      const { cpuS, peakMb, output } = measureCheck(file, args, Number(flags.runs), null, true)
      const [{ verdict }] = JSON.parse(output).results
      const cells = [verdict, cpuS.toFixed(2), peakMb.toFixed(0)]
      tell(isWrong ? `${name}, one read wrong` : name, cells, isWrong ? '' : published)
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function tell(name: string, cells: readonly string[], published: string): void {
  rows.push(`| ${[name, ...cells, published].join(' | ')} |`)
  process.stdout.write(`${rows.at(-1)}\n`)
}

/** All logs in this process; the slowest is told beside the whole. */
async function measureLogs(stale: number, timeouts: number): Promise<string[]> {
  const counts = new Map<string, number>()
  let [total, slowest] = [0, 0]
  for (let seed = 1; seed <= LOGS; seed++) {
    const text = etcdLog(seed, 85, timeouts, stale)
    const before = process.cpuUsage()
    const history = parseHistory(text, { format: 'jepsen', duplicateValues: true })
    const [result] = await judge(history, ['lin'])
    const { user, system } = process.cpuUsage(before)
    const seconds = (user + system) / 1e6
    total += seconds
    slowest = Math.max(slowest, seconds)
    counts.set(result!.verdict, (counts.get(result!.verdict) ?? 0) + 1)
  }
  const verdicts = [...counts].map(([verdict, count]) => `${count} ${verdict}`).join(', ')
  return [verdicts, `${total.toFixed(2)} in all, ${slowest.toFixed(2)} the slowest`, '']
}

const machine = `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB`
writeFileSync(
  REPORT,
  `# Linearizability, beside what is published

Node ${process.version}, ${machine}.
Processor seconds (median of ${flags.runs}): of the \`lin\` of ${LOGS} logs in one process, reading and verifying included, and of whole processes otherwise. Others used the
machine at the same time. Histories are made by \`bench/lin-histories.ts\` in the shapes of the published ones, not copies of them: logs of 85 operations of five clients on a register of five values
with compare-and-set, 15 % of writes timing out; stores of appends, of about the sizes of Porcupine's c01, c10 and c50; registers of 100 values and 20,000 operations; and larger ones.
The machines of the published figures differ, and are not named there. Porcupine takes a compare-and-set that failed to prove that the register held something else; here, as in Knossos,
it proves nothing. \`unknown\` is what ${flags.budget} by the clock did not settle: where others used the machine, a part of that was processor time. Make it again with \`npm run bench:lin\`.

| history | verdict | processor s | peak MB | published |
|---|---|---|---|---|
${rows.join('\n')}
`,
)
