// `isobar check` on a file that does not fit into the memory it may use: whether it can be judged
// on disk, which is said before anything is read, and how what came of it is told. Main functions:
// judgeBeyondMemory, showOnDisk.

import { Deadline, nowMs } from '../base/deadline.ts'
import { sentence } from '../base/inert.ts'
import { stringifyLine } from '../base/json.ts'
import type { CheckOptions } from '../check/options.ts'
import { findPlainFile, type PlainFile } from '../formats/pieces.ts'
import { renderNotation } from '../history/notation.ts'
import type { LevelRequest } from '../levels/levels.ts'
import type { OnDiskResult } from '../pipeline/beyond-memory/judge-on-disk.ts'
import { isSpilledLevel, type SpilledLevel } from '../pipeline/beyond-memory/levels.ts'
import { describeVerdict } from '../report/describe-verdict.ts'
import { cut, plain } from '../report/names.ts'
import { tellText } from '../report/text.ts'
import { Unspillable } from '../spill/spilled-history.ts'
import { positionOf } from '../verdict/verdict.ts'
import { sizeWords } from './options.ts'
import type { Progress } from './progress.ts'
import { coloursFor } from './terminal.ts'

/** What decides whether a file is judged on disk. */
export interface OnDiskRequest {
  readonly path: string
  readonly format: string | null
  readonly levels: readonly LevelRequest[] | null
  /** --scratch: a directory; false: --no-scratch; undefined: the system's own. */
  readonly scratch: string | false | undefined
  /** An option that needs the whole history in memory, or null. */
  readonly needsAll: string | null
  /** Whether the orders that prove levels are written down. */
  readonly prove: boolean
  readonly check: CheckOptions
}

/** What came of it. */
export interface BeyondMemory extends OnDiskResult {
  readonly file: PlainFile
  readonly spentMs: number
}

interface OnDiskPlan {
  readonly file: PlainFile
  readonly levels: readonly SpilledLevel[]
  readonly memoryBytes: number
}

/** Below this the program alone would take most of the memory. */
const LEAST_BYTES = 256 * 2 ** 20
const PROGRAM_BYTES = 100 * 2 ** 20
/** Bytes that a history takes in memory for each of its text, while it is laid out. */
const PER_BYTE = 1.5

/** Null if the file is not judged on disk: because it need not be, or because it cannot be. */
export async function judgeBeyondMemory(
  request: OnDiskRequest,
  budgetFromMs: number,
  progress: Progress,
): Promise<BeyondMemory | null> {
  const startedMs = nowMs()
  try {
    const plan = planOnDisk(request)
    if (plan === null) return null
    const judged = await judgePlanned(plan, request, budgetFromMs, progress)
    return { ...judged, file: plan.file, spentMs: nowMs() - startedMs }
  } catch (error) {
    if (!(error instanceof Unspillable)) throw error
    progress.done()
    const name = cut(plain(request.path))
    process.stderr.write(`isobar: ${name} is not judged on disk: ${sentence(error.message)}\n`)
    return null
  } finally {
    progress.done()
  }
}

/** Null if that is not asked for or needed. Throws Unspillable. */
function planOnDisk({
  path,
  format,
  levels,
  scratch,
  needsAll,
  check,
}: OnDiskRequest): OnDiskPlan | null {
  const memoryBytes = check.memoryBytes ?? null
  if (memoryBytes === null || scratch === false) return null
  const file = findPlainFile(path, format)
  if (file === null) {
    if (scratch === undefined) return null
    throw new Unspillable('it is not a plain file of native JSON Lines or Plume text')
  }
  if (PROGRAM_BYTES + PER_BYTE * file.sizeBytes <= memoryBytes) return null
  if (memoryBytes < LEAST_BYTES) {
    if (PER_BYTE * file.sizeBytes <= memoryBytes) return null // it may fit all the same
    throw new Unspillable('that takes --memory 256m or more')
  }
  if (levels === null) throw new Unspillable('that takes --level, with rc, ra, cc, si or ser')
  const other = levels.find(({ level }) => !isSpilledLevel(level))
  if (other)
    throw new Unspillable(`of the levels rc, ra, cc, si and ser can be, ${other.level} cannot`)
  // A level without session order, or with real time, is another one.
  if ([...levels, check].some(({ sessionOrder, realTime }) => sessionOrder === false || realTime)) {
    throw new Unspillable('that takes session order, and no other')
  }
  if (needsAll !== null) throw new Unspillable(`${needsAll} takes the whole history`)
  const spilled = levels.map(({ level }) => level).filter(isSpilledLevel)
  return { file, levels: spilled, memoryBytes }
}

/** What part of the time each phase takes, about; phases may come again. */
const SHARES: Readonly<Record<string, readonly [number, number]>> = {
  streaming: [0, 1], // all there is, where it is enough
  reading: [0, 0.42],
  matching: [0.42, 0.64],
  comparing: [0.64, 0.72],
  ordering: [0.72, 0.74],
  verifying: [0.74, 1],
  loading: [0.6, 1], // what violates a level
}

async function judgePlanned(
  plan: OnDiskPlan,
  { scratch, prove, check }: OnDiskRequest,
  budgetFromMs: number,
  progress: Progress,
): Promise<OnDiskResult> {
  const { judgeOnDisk } = await import('../pipeline/beyond-memory/judge-on-disk.ts')
  const deadline = new Deadline(check.budgetMs, null, null, { fromMs: budgetFromMs })
  const startedMs = nowMs()
  const name = cut(plain(plan.file.path))
  return judgeOnDisk(plan.file, plan.levels, {
    memoryBytes: plan.memoryBytes,
    scratch: scratch === false ? null : (scratch ?? null),
    certify: check.certify ?? true,
    prove,
    check: { ...check, memoryBytes: null, budgetFromMs },
    onStep: (phase, done, all) => {
      deadline.check()
      const [from, to] = SHARES[phase] ?? [0, 1]
      const share = from + ((to - from) * done) / Math.max(1, all)
      const leftMs = share > 0.02 ? ((nowMs() - startedMs) * (1 - share)) / share : null
      const left = leftMs === null ? '' : `, about ${Math.ceil(leftMs / 1000)} s left`
      progress.report(`${phase} ${name} on disk${left},`, share)
    },
  })
}

export interface ShowOptions {
  readonly json: boolean
  readonly notation: boolean
  readonly command: string
  readonly deadline: Deadline
}

/** What goes to the terminal. */
export function showOnDisk(
  judged: BeyondMemory,
  request: OnDiskRequest,
  options: ShowOptions,
): string | Iterable<string> {
  const { part, results, counts, warnings, file } = judged
  const { deadline } = options
  const all = request.check.all === true
  if (options.json) return describeOnDisk(judged, request, options)
  const txns = results.flatMap(({ anomalies }) => anomalies.flatMap((anomaly) => anomaly.txns))
  if (options.notation) {
    return txns.length > 0 ? renderNotation(part.history, txns, { ids: true }) : ''
  }
  // What is told of transactions is told of the part; that it may be empty is not.
  const txnCount = txns.length > 0 ? part.history.txnCount : counts.transactions
  const title = `${plain(file.path)} (${file.format.name}, judged on disk: ${sizeWords(counts)})`
  const colours = coloursFor(process.stdout)
  const told = { ...part.history, txnCount, warnings }
  return tellText(told, results, { colours, title, all, deadline })
}

/** As of a history in memory. */
function describeOnDisk(
  { part, results, counts, warnings, file, spentMs }: BeyondMemory,
  { path, levels, check }: OnDiskRequest,
  { command, deadline }: ShowOptions,
): Iterable<string> {
  const asked = levels!.map(({ level }) => level)
  const context = { path, format: file.format.id, parseMs: spentMs, asked, command, deadline }
  const described = describeVerdict(part.history, results, { ...context, all: check.all === true })
  const { overview: _, ...verdict } = described // of the part, which stands for nothing
  const placed = verdict.results.map((result, i) => {
    const first = positionOf(results[i]!)
    return { ...result, position: first === null ? null : part.txns[first - 1]! + 1 }
  })
  return stringifyLine({ ...verdict, history: counts, warnings: [...warnings], results: placed })
}
