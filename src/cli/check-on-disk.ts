// `isobar check` on a file that does not fit into the memory it may use: whether it can be judged
// on disk, which is said before anything is read, and how what came of it is told. Where it may
// fit, it is judged in memory, and on disk after all if that did not do. Main functions:
// judgeBeyondMemory, judgeAfterMemory, showOnDisk.

import { Deadline, nowMs } from '../base/deadline.ts'
import { BudgetExceeded, InputError } from '../base/errors.ts'
import { sentence } from '../base/inert.ts'
import { stringifyLine } from '../base/json.ts'
import { undecided } from '../check/certified.ts'
import type { CheckOptions } from '../check/options.ts'
import { Scratch } from '../files/scratch.ts'
import type { ReadResult } from '../formats/open.ts'
import { findPlainFile, type PlainFile } from '../formats/pieces.ts'
import { hasLists } from '../history/history.ts'
import { renderNotation } from '../history/render-notation.ts'
import type { LevelId, LevelRequest } from '../levels/levels.ts'
import type { OnDiskResult } from '../pipeline/beyond-memory/judge-on-disk.ts'
import { isSpilledLevel, type SpilledLevel } from '../pipeline/beyond-memory/levels.ts'
import { describeTxn } from '../report/describe-txn.ts'
import { describeVerdict } from '../report/describe-verdict.ts'
import { cut, plain } from '../report/names.ts'
import { tellText } from '../report/text.ts'
import type { Part } from '../spill/part.ts'
import { Unspillable } from '../spill/spilled-history.ts'
import { type LevelResult, positionOf } from '../verdict/verdict.ts'
import type { VerdictJson } from '../verdict/verdict-file.ts'
import { DiskProgress } from './disk-progress.ts'
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
  /** A level that was asked for and cannot be judged on disk, or null. */
  readonly other: LevelId | null
  readonly memoryBytes: number
}

/** In memory no level was violated, and some that disk may decide were not decided. */
export class Undecided extends Error {
  override readonly name = 'Undecided'

  /** @param cause why nothing was decided, if it could not be read at all */
  constructor(
    readonly results: readonly LevelResult[],
    override readonly cause: BudgetExceeded | null = null,
  ) {
    super('memory was not enough')
  }
}

/** Below this the program alone would take most of the memory. */
const LEAST_BYTES = 256 * 2 ** 20
const PROGRAM_BYTES = 100 * 2 ** 20
/** Bytes that a history takes in memory for each of its text, at least, while it is laid out. */
const PER_BYTE = { plume: 1.5, native: 3.5 }
/** Where an order of versions has to be found, too. */
const STRONG_PER_BYTE = 6
const LAST_SHARE = 0.9 // of the time that was given; behind it nothing more is begun

/** Null if the file is not judged on disk: because it need not be, or because it cannot be. */
export async function judgeBeyondMemory(
  request: OnDiskRequest,
  budgetFromMs: number,
  progress: Progress,
): Promise<BeyondMemory | null> {
  const { path, format, levels, scratch, check } = request
  const memoryBytes = check.memoryBytes ?? null
  if (memoryBytes === null || scratch === false) return null
  const file = findPlainFile(path, format)
  if (file === null && scratch === undefined) return null
  const mayTake = (perByte: number) => PROGRAM_BYTES + perByte * (file?.sizeBytes ?? 0)
  const isLarge = !file || mayTake(PER_BYTE[file.format.id as 'plume' | 'native']) > memoryBytes
  const isStrong = levels?.some(({ level }) => level === 'ser' || level === 'si')
  // Memory may do, but these levels take much more of it, and the file may prove them as it stands.
  if (!isLarge && !(isStrong && mayTake(STRONG_PER_BYTE) > memoryBytes)) return null
  if (memoryBytes < LEAST_BYTES && mayTake(PER_BYTE.plume) - PROGRAM_BYTES <= memoryBytes)
    return null
  const refuse = isLarge ? `${cut(plain(path))} is not judged on disk` : null
  return unlessRefused(refuse, progress, async () => {
    const plan = planOnDisk(request, file)
    if (plan.other !== null) {
      throw new Unspillable(`of the levels rc, ra, cc, si and ser can be, ${plan.other} cannot`)
    }
    return judgePlanned(plan, request, budgetFromMs, progress, isLarge)
  })
}

/** What disk can decide, where memory was not enough; null if it is of no use. */
export function judgeAfterMemory(
  request: OnDiskRequest,
  { results }: Undecided,
  budgetFromMs: number,
  progress: Progress,
): Promise<BeyondMemory | null> {
  return unlessRefused(null, progress, async () => {
    const plan = planOnDisk(request, findPlainFile(request.path, request.format))
    const isOpen = (id: LevelId) => results.some((at) => at.level === id && isUnknown(at))
    const open = { ...plan, levels: plan.levels.filter(isOpen) }
    const judged = (await judgePlanned(open, request, budgetFromMs, progress))!
    const decided = (level: LevelId) => judged.results.find((result) => result.level === level)
    return { ...judged, results: results.map((result) => decided(result.level) ?? result) }
  })
}

/** What failed to be read into memory, with what that leaves to disk. */
export function undecidedBy(error: unknown, request: OnDiskRequest, budgetFromMs: number): unknown {
  const { levels } = request
  if (!(error instanceof BudgetExceeded) || !mayGoToDisk(request, budgetFromMs)) return error
  const results = levels!.map(({ level }) => ({ ...undecided(level), reason: error.message }))
  return new Undecided(results, error)
}

/** Throws Undecided if disk may decide what memory did not; the history then need not be held. */
export function expectDecided(
  { history }: ReadResult,
  results: readonly LevelResult[],
  request: OnDiskRequest,
  budgetFromMs: number,
): void {
  if (!results.some((result) => isUnknown(result) && isSpilledLevel(result.level))) return
  if (results.some(({ anomalies }) => anomalies.length > 0)) return
  if (!mayGoToDisk(request, budgetFromMs)) return
  const { sql, light, spans, after, rows, versions, partial } = history
  if (hasLists(history) || (sql ?? light ?? spans ?? after ?? rows ?? versions ?? partial)) return
  // An order that proves a level is told by the numbers of transactions alone.
  const keep = ({ proof }: LevelResult) => (request.prove ? proof : null)
  throw new Undecided(results.map((result) => ({ ...result, proof: keep(result) })))
}

function isUnknown({ verdict }: LevelResult): boolean {
  return verdict === 'unknown'
}

/** Whether there is disk to go to, something to look for, and time. */
function mayGoToDisk(request: OnDiskRequest, budgetFromMs: number): boolean {
  const { path, format, scratch, levels, check } = request
  const { budgetMs, memoryBytes } = check
  if (memoryBytes == null || scratch === false) return false
  if (!levels?.some(({ level }) => isSpilledLevel(level))) return false
  if (budgetMs != null && nowMs() >= budgetFromMs + LAST_SHARE * budgetMs) return false
  try {
    planOnDisk(request, findPlainFile(path, format))
    // Where nobody named a place, one that cannot be used must not cost what memory decided.
    if (scratch === undefined) openScratch()
    return true
  } catch (error) {
    if (error instanceof Unspillable || error instanceof InputError) return false
    throw error
  }
}

/** Throws InputError where the system's own place for such files cannot be used. */
function openScratch(): void {
  const scratch = new Scratch(null)
  try {
    scratch.file()
  } finally {
    scratch.close()
  }
}

/** Null if it cannot be judged on disk. @param refuse what to say then, if anything */
async function unlessRefused<T>(
  refusal: string | null,
  progress: Progress,
  work: () => Promise<T>,
): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Unspillable)) throw error
    progress.done()
    if (refusal) process.stderr.write(`isobar: ${refusal}: ${sentence(error.message)}\n`)
    return null
  } finally {
    progress.done()
  }
}

/** Throws Unspillable. */
function planOnDisk(
  { levels, needsAll, check }: OnDiskRequest,
  file: PlainFile | null,
): OnDiskPlan {
  const memoryBytes = check.memoryBytes!
  if (file === null) {
    throw new Unspillable('it is not a plain file of native JSON Lines or Plume text')
  }
  if (memoryBytes < LEAST_BYTES) throw new Unspillable('that takes --memory 256m or more')
  if (levels === null) throw new Unspillable('that takes --level, with rc, ra, cc, si or ser')
  const asked = levels.map(({ level }) => level)
  const spilled = asked.filter(isSpilledLevel)
  const other = asked.find((level) => !isSpilledLevel(level)) ?? null
  // A level without session order, or with real time, is another one.
  const isOther = levels.some(({ sessionOrder, realTime }) => sessionOrder === false || realTime)
  if (isOther || check.sessionOrder === false || check.realTime) {
    throw new Unspillable('that takes session order, and no other')
  }
  if (needsAll !== null) throw new Unspillable(`${needsAll} takes the whole history`)
  return { file, levels: spilled, other, memoryBytes }
}

/** Null if it is to be judged as it stands, and that does not tell. */
async function judgePlanned(
  { file, levels, memoryBytes }: OnDiskPlan,
  { scratch, prove, check }: OnDiskRequest,
  budgetFromMs: number,
  progress: Progress,
  mayCutUp = true,
): Promise<BeyondMemory | null> {
  const { judgeOnDisk, judgeAsItStands } = await import(
    '../pipeline/beyond-memory/judge-on-disk.ts'
  )
  const deadline = new Deadline(check.budgetMs, null, null, { fromMs: budgetFromMs })
  const startedMs = nowMs()
  const name = cut(plain(file.path))
  const steps = new DiskProgress()
  const judged = await (mayCutUp ? judgeOnDisk : judgeAsItStands)(file, levels, {
    memoryBytes,
    scratch: scratch === false ? null : (scratch ?? null),
    certify: check.certify ?? true,
    prove,
    check: { ...check, memoryBytes: null, budgetFromMs },
    onStep: (phase, done, all) => {
      deadline.check()
      const [words, share] = steps.tell(phase, done, all, nowMs())
      progress.report(`${words}: ${name} on disk,`, share)
    },
  })
  return judged && { ...judged, file, spentMs: nowMs() - startedMs }
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
  const { overview: _, ...verdict } = placedAsTold(described, part) // it stands for nothing
  const placed = verdict.results.map((result, i) => {
    const first = positionOf(results[i]!)
    return { ...result, position: first === null ? null : part.txns[first - 1]! + 1 }
  })
  return stringifyLine({ ...verdict, history: counts, warnings: [...warnings], results: placed })
}

/** Transactions as the file tells them, with what the part leaves out, and places in these. */
function placedAsTold(verdict: VerdictJson, { history, told, places }: Part): VerdictJson {
  const txnOf = new Map(places.map((_, txn) => [history.txnName(txn), txn]))
  const results = structuredClone(verdict.results)
  const place = (evidence: unknown): void => {
    if (typeof evidence !== 'object' || evidence === null) return
    const { transaction, index } = evidence as { transaction?: string; index?: number }
    if (transaction !== undefined && index !== undefined) {
      Object.assign(evidence, { index: places[txnOf.get(transaction)!]![index] })
    } else Object.values(evidence).forEach(place)
  }
  for (const { anomalies } of results) place(anomalies)
  const transactions = verdict.transactions.map(({ id }) =>
    describeTxn(told, txnOf.get(String(id))!),
  )
  const unit = told.timeUnit === null ? {} : { unit: told.timeUnit }
  return { ...verdict, ...unit, results, transactions }
}
