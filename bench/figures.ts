// The figures that Isobar promises, as data: a history, what is asked of it, and how long and how
// large that may be, in seconds and megabytes or against another figure.

import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { generate, type Measured, measureCheck, measurePeer, measureUnit } from './measure.ts'
import { type Rewrite, rewriteFile } from './rewrite.ts'

interface Question {
  /** Levels, or any other options of `isobar check`, with the name the figure goes by. */
  ask: string
  args?: string[]
  cores?: string
  maxS?: number
  /** Processor time, start included. */
  maxCpuS?: number
  maxMb?: number
  /** At most `factor` times as long as the figure of that name. */
  against?: { figure: string; factor: number }
}

interface Subject {
  name: string
  flags: string[]
  format?: 'plume' | 'native'
  rewrite?: Rewrite
  runs?: number
  questions: Question[]
}

export interface Figure extends Measured {
  id: string
  megabytes: number
  limit: string
  isMet: boolean
  peerS: number | null
}

const usual = (extra: Record<string, string> = {}): string[] =>
  Object.entries({
    '--transactions': '1000000',
    '--sessions': '50',
    '--ops': '8',
    '--reads': '0.5',
    '--keys': '100000',
    ...extra,
  }).flat()

const WEAK = (): Question[] => [
  { ask: 'rc', maxS: 2, maxMb: 600 },
  { ask: 'ra', maxS: 2.5, maxMb: 600 },
  { ask: 'cc', maxS: 5, maxMb: 800 },
]

const atMost = (factor: number, figure: string): Pick<Question, 'against'> => ({
  against: { figure, factor },
})

/** A fault, and the weakest level that forbids it. */
const FAULTS = [
  ['aborted-read', 'rc'],
  ['fractured-read', 'ra'],
  ['causality-violation', 'cc'],
] as const

const SUBJECTS: Subject[] = [
  {
    name: 'commit order',
    flags: usual(),
    questions: [
      ...WEAK(),
      { ask: 'cc without certification', args: ['--level', 'cc', '--no-certify'] },
      { ask: 'ci,rc,ra,cc', ...atMost(1.5, 'commit order, cc') },
      {
        ask: 'rc on one core',
        args: ['--level', 'rc'],
        cores: '0',
        ...atMost(1.3, 'commit order, rc'),
      },
    ],
  },
  {
    name: 'session by session',
    flags: usual({ '--layout': 'session' }),
    questions: [
      ...WEAK(),
      { ask: 'cc without certification', args: ['--level', 'cc', '--no-certify'] },
      { ask: 'ci,rc,ra,cc', ...atMost(1.5, 'session by session, cc') },
    ],
  },
  {
    name: '100,000 transactions, session by session',
    flags: usual({ '--transactions': '100000', '--layout': 'session' }),
    runs: 11,
    questions: [
      { ask: 'rc', maxCpuS: 0.3 },
      { ask: 'ra', maxCpuS: 0.35 },
    ],
  },
  { name: 'interleaved', flags: usual({ '--layout': 'interleaved' }), questions: WEAK() },
  {
    name: '64-bit values',
    flags: usual(),
    rewrite: 'wide-values',
    questions: [{ ask: 'cc', ...atMost(1.5, 'commit order, cc') }],
  },
  {
    name: '64-bit values at random',
    flags: usual(),
    rewrite: 'random-values',
    questions: [{ ask: 'cc', ...atMost(1.5, 'commit order, cc') }],
  },
  {
    name: '64-bit keys',
    flags: usual(),
    rewrite: 'wide-keys',
    questions: [{ ask: 'cc', ...atMost(1.5, 'commit order, cc') }],
  },
  {
    name: 'native',
    flags: usual(),
    format: 'native',
    questions: [{ ask: 'cc', ...atMost(2.5, 'commit order, cc') }],
  },
  {
    name: 'native, string keys',
    flags: usual(),
    format: 'native',
    rewrite: 'string-keys',
    questions: [{ ask: 'cc', ...atMost(1.5, 'native, cc') }],
  },
  ...FAULTS.flatMap(([fault, level]) =>
    ['1', '1000'].map((count) => ({
      name: `${count} × ${fault}`,
      flags: usual({ '--inject': `${fault}:${count}` }),
      questions: [{ ask: level, ...atMost(2, `commit order, ${level}`) }],
    })),
  ),
  ...['commit', 'session'].flatMap((layout) => [
    {
      name: `1e4 keys, layout ${layout}`,
      flags: usual({ '--keys': '10000', '--layout': layout }),
      questions: [{ ask: 'cc', maxS: 10, maxMb: 1500 }],
    },
    {
      name: `1,000 sessions, layout ${layout}`,
      flags: usual({ '--sessions': '1000', '--layout': layout }),
      runs: 1,
      questions: [{ ask: 'cc', maxS: 15 }],
    },
  ]),
  {
    name: 'one session of 2,000,000',
    flags: usual({ '--transactions': '2000000', '--sessions': '1' }),
    questions: [{ ask: 'cc', maxS: 8 }],
  },
  {
    name: '4,000,000 transactions',
    flags: usual({ '--transactions': '4000000' }),
    runs: 1,
    questions: ['rc', 'cc'].map((ask) => ({ ask, ...atMost(4.8, `commit order, ${ask}`) })),
  },
  {
    name: '10,000,000 transactions',
    flags: usual({ '--transactions': '10000000' }),
    runs: 1,
    questions: ['rc', 'cc'].map((ask) => ({ ask, ...atMost(12, `commit order, ${ask}`) })),
  },
  {
    name: '125,000 transactions of 400 operations',
    flags: usual({ '--transactions': '125000', '--ops': '400' }),
    runs: 1,
    // 6.25 times the operations of the usual history.
    questions: ['rc', 'cc'].map((ask) => ({ ask, ...atMost(7.5, `commit order, ${ask}`) })),
  },
]

/** Measures all figures; files are made one after another and do not stay. */
export async function measureFigures(
  folder: string,
  runs: number,
  only: string,
): Promise<{ figures: Figure[]; unitS: number | null }> {
  const known = new Map<string, Measured>()
  const figures: Figure[] = []
  let unitS: number | null = null
  for (const subject of SUBJECTS) {
    if (!subject.name.includes(only)) continue
    const file = await make(subject, folder)
    if (subject.name === 'commit order') unitS = measureUnit(file)
    for (const question of subject.questions) {
      const args = question.args ?? ['--level', question.ask]
      const id = `${subject.name}, ${question.ask}`
      const { output: _, ...measured } = measureCheck(
        file,
        args,
        subject.runs ?? runs,
        question.cores,
      )
      known.set(id, measured)
      const figure = {
        id,
        megabytes: statSync(file).size / 1e6,
        ...measured,
        ...judge(question, measured, known),
        peerS: /^(rc|ra|cc)$/.test(question.ask) ? measurePeer(question.ask, file) : null,
      }
      figures.push(figure)
      console.log(
        `${id}: ${measured.bestS.toFixed(2)} s, ${measured.peakMb.toFixed(0)} MB ${figure.limit}`,
      )
    }
    rmSync(file)
  }
  addCertification(figures, known)
  return { figures, unitS }
}

async function make(subject: Subject, folder: string): Promise<string> {
  const ending = subject.format === 'native' ? 'jsonl' : 'plume'
  const file = join(folder, `history.${ending}`)
  generate(file, subject.flags)
  if (!subject.rewrite) return file
  const rewritten = join(folder, `rewritten.${ending}`)
  await rewriteFile(file, rewritten, subject.rewrite)
  rmSync(file)
  return rewritten
}

function judge(
  { maxS, maxCpuS, maxMb, against }: Question,
  { bestS, cpuS, peakMb }: Measured,
  known: ReadonlyMap<string, Measured>,
): { limit: string; isMet: boolean } {
  const limits: string[] = []
  let isMet = true
  const expect = (text: string, holds: boolean) => {
    limits.push(text)
    isMet &&= holds
  }
  if (maxS !== undefined) expect(`≤ ${maxS} s`, bestS <= maxS)
  if (maxCpuS !== undefined) expect(`≤ ${maxCpuS} s of CPU`, cpuS <= maxCpuS)
  if (maxMb !== undefined) expect(`≤ ${maxMb} MB`, peakMb <= maxMb)
  const other = against && known.get(against.figure)
  if (against && other) {
    const ratio = bestS / other.bestS
    const text = `≤ ${against.factor} × ${against.figure}: ${ratio.toFixed(2)} ×`
    expect(text, ratio <= against.factor)
  }
  return { limit: limits.join(', '), isMet }
}

/** Certification is what cc takes more than without it. */
function addCertification(figures: Figure[], known: ReadonlyMap<string, Measured>): void {
  for (const figure of figures) {
    if (!figure.id.endsWith(', cc')) continue
    const without = known.get(`${figure.id} without certification`)
    if (!without) continue
    const share = figure.bestS / without.bestS - 1
    figure.limit += `, certification ≤ 30 %: ${(100 * share).toFixed(0)} %`
    figure.isMet &&= share <= 0.3
  }
}
