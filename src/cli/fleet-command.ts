// `isobar fleet`: thousands of runs and checks on one machine or many, and what they found. One
// command with an action, because they share their options: where the queue is, who may do what.

import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { counted } from '../base/counted.ts'
import { UsageError } from '../base/errors.ts'
import { parseDuration } from '../base/quantities.ts'
import { hintFor } from '../base/slips.ts'
import { type Output, Outputs } from '../files/output.ts'
import { awaitEnd, queueOpen, submit } from '../fleet/coordinate.ts'
import { type Coming, type Fleet, type FleetPlace, openFleet } from '../fleet/fleet.ts'
import { serveJobs } from '../fleet/job-process.ts'
import { renderNight } from '../fleet/night-text.ts'
import { isOver, type NightOverview, readOverview, unknownFindings } from '../fleet/overview.ts'
import type { NightPlan } from '../fleet/plan.ts'
import { REPORT_FILES } from '../fleet/report-names.ts'
import type { Counts, FleetStore, Night } from '../fleet/store.ts'
import { FleetWorker } from '../fleet/worker.ts'
import { plain } from '../report/names.ts'
import { EXIT } from './exit-codes.ts'
import { loadPlan } from './fleet-plan.ts'
import { parseNumber } from './options.ts'
import { Interrupt } from './signals.ts'
import { StatusLine } from './status-line.ts'
import { isQuiet, print, tell } from './terminal.ts'
import { VERSION } from './version.ts'

const SLOW_MS = 2000 // to connect

interface Flags {
  queue?: string
  results?: string
  data: string
  jobs: string
  allow: string[]
  lease: string
  patience: string
  untilDone?: boolean
  night?: string
  json?: boolean
  fail?: boolean
  report?: string
  force?: boolean
}

type Action = (path: string | undefined, flags: Flags) => Promise<number>

const ACTIONS: Readonly<Record<string, { about: string; takes: string | null; run: Action }>> = {
  run: { about: 'queue a plan, do its jobs, tell what was found', takes: 'PLAN', run: runPlan },
  submit: { about: 'queue a plan, for workers to do', takes: 'PLAN', run: submitPlan },
  work: { about: 'do jobs until a signal comes', takes: null, run: work },
  status: { about: 'how far a night is', takes: null, run: showStatus },
  report: { about: 'write a night as a static site', takes: 'DIR', run: writeReport },
  cancel: { about: 'give up what is not done of a night', takes: null, run: cancel },
  retry: { about: 'do jobs again that came to no verdict', takes: null, run: retry },
}

export const FLEET_ACTIONS: readonly string[] = Object.keys(ACTIONS)
/** Not for people: a process that does the jobs of its parent. */
const JOB_PROCESS = 'job-process'
/** What workers may run that were told nothing. */
const USUALLY_ALLOWED = ['embedded*', 'sim:*']

export function addFleetCommand(program: Command, done: (code: number) => void): void {
  program
    .command('fleet')
    .description('thousands of runs and checks, on one machine or many: findings, not failures')
    .argument('<action>', FLEET_ACTIONS.join(', '))
    .argument('[path...]', 'of run and submit: the plan; of report: a directory')
    .optionsGroup('Where the queue and the results are:')
    .option('--data <dir>', 'directory of the embedded server that keeps them', 'isobar-fleet')
    .option('--queue <address>', 'a server instead, postgres://… or redis://…')
    .option('--results <address>', 'where results are, postgres://…; needed with redis://')
    .option('--patience <time>', 'how long these servers may stay away', '60s')
    .optionsGroup('Workers:')
    .option('--jobs <n>', 'jobs at once; 0: leave them to others (one for each core)')
    .option(
      '--allow <target>',
      `a target that may be run here, with * for anything; several (${USUALLY_ALLOWED.join(', ')}; of run, what the plan names)`,
      (text: string, before: string[]) => [...before, text],
      [],
    )
    .option('--lease <time>', 'how long a worker may be silent before others get its jobs', '15s')
    .option('--until-done', 'work: end when the last night is done')
    .optionsGroup('Nights:')
    .option('--night <n>', 'a night by its number (the last one)')
    .option('--json', 'status: print it as one JSON object')
    .option('--fail', 'status: end as run would, with 1 if there is a finding that is not known')
    .option('--report <dir>', 'run: write the report as well, and replace the last one there')
    .option('--force', 'report: replace the last one')
    .addHelpText('after', HELP)
    .action(async (action: string, paths: string[], flags: Flags) => {
      if (action !== JOB_PROCESS) return done(await act(action, paths, flags))
      await serveJobs(paths, VERSION)
      done(EXIT.satisfied)
    })
}

const HELP = `
Actions:
${Object.entries(ACTIONS)
  .map(([name, { about, takes }]) => `  ${`${name} ${takes ?? ''}`.padEnd(14)}${about}`)
  .join('\n')}

A plan is a YAML or JSON file: targets × workloads × parameters × seeds × levels × faults, or files
of histories; docs/fleet.md describes it. A night that was interrupted goes on where it was when it
is run again. Jobs are done in processes of their own: one that dies takes nothing with it.
Exit codes of run: 0 all levels hold or every finding is known, 1 there is a finding that is not
known, 3 some jobs came to no verdict, 4 because of their database.

Examples:
  isobar fleet run plan.yaml                       all of it on this machine
  isobar fleet run plan.yaml --data nights/        and keep it elsewhere
  isobar fleet submit plan.yaml --queue postgres://me@db.example/fleet
  isobar fleet work --queue postgres://me@db.example/fleet --allow 'env:STAGING'
                                                   on as many machines as there are
  isobar fleet status --queue postgres://me@db.example/fleet
  isobar fleet report site && isobar serve site    what was found, as pages`

async function act(action: string, paths: readonly string[], flags: Flags): Promise<number> {
  const found = Object.hasOwn(ACTIONS, action) ? ACTIONS[action]! : null
  if (found === null) {
    throw new UsageError(`fleet has no action "${plain(action)}"`, hintFor(action, FLEET_ACTIONS))
  }
  const [path, extra] = paths
  const { takes } = found
  if (takes !== null && path === undefined) {
    const what = takes === 'PLAN' ? 'a plan' : 'a directory'
    throw new UsageError(`fleet ${action} needs ${what}`, `isobar fleet ${action} ${takes}`)
  }
  if ((takes === null ? path : extra) !== undefined) {
    throw new UsageError(`fleet ${action} takes ${takes === null ? 'no file' : `one ${takes}`}`)
  }
  return found.run(path, flags)
}

function placeOf({ queue, results, data, patience }: Flags): FleetPlace {
  return {
    ...{ queue: queue ?? null, results: results ?? null, data },
    ...{ patienceMs: parseDuration(patience), environment: process.env },
  }
}

/** Says that it waits for servers that do not answer, which may be a typing error. */
async function saidIfSlow<T>({ patience }: Flags, opening: Promise<T>): Promise<T> {
  const say = () =>
    process.stderr.write(`isobar: waiting for the fleet's server, at most ${patience}\n`)
  const timer = setTimeout(() => isQuiet() || say(), SLOW_MS)
  return opening.finally(() => clearTimeout(timer))
}

/** Opens the fleet, and closes it however the work ends. */
async function withFleet<T>(
  flags: Flags,
  coming: Coming,
  work: (fleet: Fleet, interrupt: Interrupt) => Promise<T>,
): Promise<T> {
  const interrupt = new Interrupt(null)
  const fleet = await saidIfSlow(flags, openFleet(placeOf(flags), coming))
  interrupt.listen()
  try {
    return await work(fleet, interrupt)
  } finally {
    interrupt.ignore()
    await fleet.close()
  }
}

async function runPlan(path: string | undefined, flags: Flags): Promise<number> {
  const { plan, files } = loadPlan(path!)
  const atOnce = jobsOf(flags)
  const site = flags.report === undefined ? null : claimSite(flags.report, '--report', true)
  return withFleet(flags, 'make', async (fleet, interrupt) => {
    const { store, queue } = fleet
    const { night, isContinued } = await submit(store, queue, { plan, files, version: VERSION })
    if (isContinued) await tell(`night ${night.id} was not over: it goes on\n`)
    const worker = atOnce === 0 ? null : startWorker(fleet, flags, atOnce, plan)
    const line = new StatusLine()
    let last: Night
    try {
      const end = awaitEnd(store, queue, night.id, interrupt.signal, showOn(line))
      last = await (worker?.during(end) ?? end)
    } finally {
      line.done()
      await worker?.close()
    }
    const overview = await readOverview(store, last)
    await tell(renderNight(overview))
    if (site) await fillSite(site, store, overview)
    return interrupt.signal.aborted ? interrupt.exitCode : exitCodeOf(overview)
  })
}

async function submitPlan(path: string | undefined, flags: Flags): Promise<number> {
  const { plan, files } = loadPlan(path!)
  return withFleet(flags, 'make', async ({ store, queue }) => {
    const { night, isContinued } = await submit(store, queue, { plan, files, version: VERSION })
    const was = night.state === 'cancelled' ? 'was cancelled meanwhile' : 'is queued'
    const what = isContinued ? 'was queued already' : was
    await tell(`night ${night.id} of ${plain(night.name)} ${what}: ${counted(night.jobs, 'job')}\n`)
    return EXIT.satisfied
  })
}

async function work(_path: string | undefined, flags: Flags): Promise<number> {
  const atOnce = jobsOf(flags)
  if (atOnce === 0) throw new UsageError('a worker does at least one job at once: --jobs 1')
  return withFleet(flags, 'join', async (fleet, interrupt) => {
    const { store, queue } = fleet
    const worker = startWorker(fleet, flags, atOnce, null)
    const line = new StatusLine()
    try {
      if (!flags.untilDone) {
        await worker.during(
          new Promise((resolve) => interrupt.signal.addEventListener('abort', resolve)),
        )
        return interrupt.exitCode
      }
      const { id } = await nightOf(fleet, flags)
      await worker.during(awaitEnd(store, queue, id, interrupt.signal, showOn(line)))
      return interrupt.signal.aborted ? interrupt.exitCode : EXIT.satisfied
    } finally {
      line.done()
      await worker.close()
    }
  })
}

async function showStatus(_path: string | undefined, flags: Flags): Promise<number> {
  return withFleet(flags, 'start', async (fleet) => {
    const night = await nightOf(fleet, flags)
    const [counts, queued] = [await fleet.store.count(night.id), await fleet.queue.countOpen()]
    const { id, name, state, jobs } = night
    const { waiting, active } = queued
    const inQueue = `${counted(waiting, 'bundle')} of jobs waiting, ${active} being done`
    const told = { night: id, name, state, jobs, ...counts, queue: queued }
    if (flags.json) await print(`${JSON.stringify(told)}\n`)
    else await tell(`${progressWords(night, counts)}; ${state}\nqueue: ${inQueue}\n`)
    return flags.fail ? exitCodeOf(await readOverview(fleet.store, night)) : EXIT.satisfied
  })
}

async function writeReport(path: string | undefined, flags: Flags): Promise<number> {
  const site = claimSite(path!, 'fleet report', flags.force === true)
  return withFleet(flags, 'start', async (fleet) => {
    const night = await nightOf(fleet, flags)
    await fillSite(site, fleet.store, await readOverview(fleet.store, night))
    return EXIT.satisfied
  })
}

function claimSite(path: string, what: string, force: boolean): Output {
  return new Outputs(force).claimDirectory(path, what, REPORT_FILES)
}

async function fillSite(site: Output, store: FleetStore, overview: NightOverview): Promise<void> {
  const { renderNightFiles } = await import('../fleet/report-files.ts')
  const files = await renderNightFiles(store, overview)
  const encoder = new TextEncoder()
  site.writeFiles((open) => {
    for (const [name, content] of files) {
      open(name)(typeof content === 'string' ? encoder.encode(content) : content)
    }
  })
  await tell(`report    ${plain(join(site.path, 'index.html'))}\n`)
}

async function cancel(_path: string | undefined, flags: Flags): Promise<number> {
  return withFleet(flags, 'start', async (fleet) => {
    const night = await nightOf(fleet, flags)
    if (night.state === 'done' || night.state === 'cancelled') {
      await tell(`night ${night.id} is ${night.state} already\n`)
      return EXIT.satisfied
    }
    await fleet.store.setNight(night.id, 'cancelled')
    const counts = await fleet.store.count(night.id)
    await tell(`night ${night.id} is cancelled: ${counts.done} of ${night.jobs} jobs were done\n`)
    return EXIT.satisfied
  })
}

async function retry(_path: string | undefined, flags: Flags): Promise<number> {
  return withFleet(flags, 'start', async (fleet) => {
    const { store, queue } = fleet
    const night = await nightOf(fleet, flags)
    if (night.state === 'filling') {
      throw new UsageError(
        `night ${night.id} is being filled`,
        'isobar fleet submit goes on with it',
      )
    }
    const count = await store.forgetFailed(night.id)
    if (count > 0) {
      await store.setNight(night.id, 'queued')
      const round = await store.nextRound(night.id, night.rounds)
      await queueOpen(store, queue, night, round)
    }
    await tell(`night ${night.id}: ${counted(count, 'job')} queued again\n`)
    return EXIT.satisfied
  })
}

function startWorker(
  { store, queue }: Fleet,
  flags: Flags,
  atOnce: number,
  plan: NightPlan | null,
): FleetWorker {
  const command = [...process.execArgv, process.argv[1]!, 'fleet', JOB_PROCESS]
  return new FleetWorker(store, queue, {
    ...{ atOnce, allowed: allowedOf(flags, plan), command },
    // Whoever runs a plan by himself wants to know what is missing at once.
    leavesRefused: plan === null,
    leaseMs: Math.max(1000, parseDuration(flags.lease)),
  })
}

function jobsOf({ jobs }: Flags): number {
  return jobs === undefined ? availableParallelism() : Math.floor(parseNumber('jobs', jobs, 0))
}

function allowedOf({ allow }: Flags, plan: NightPlan | null): string[] {
  const named = plan?.targets.map(({ value }) => value) ?? []
  return [...(allow.length > 0 ? allow : USUALLY_ALLOWED), ...named]
}

async function nightOf({ store }: Fleet, { night }: Flags): Promise<Night> {
  const id = night === undefined ? null : parseNumber('night', night, 1)
  const found = await store.findNight(id)
  if (found) return found
  throw new UsageError(id === null ? 'there is no night yet' : `there is no night ${id}`)
}

function showOn(line: StatusLine): (night: Night, counts: Counts) => void {
  return (night, counts) => line.show(progressWords(night, counts))
}

function progressWords({ id, jobs }: Night, counts: Counts): string {
  const { done, violated, findings, unknown, failed } = counts
  const found = violated === 0 ? '' : `, ${violated} violated (${counted(findings, 'finding')})`
  const others = [unknown > 0 ? `, ${unknown} unknown` : '', failed > 0 ? `, ${failed} failed` : '']
  return `night ${id}: ${done} of ${counted(jobs, 'job')}${found}${others.join('')}`
}

function exitCodeOf(overview: NightOverview): number {
  const { counts, blames } = overview
  if (unknownFindings(overview).length > 0) return EXIT.violated
  if (blames.includes('database')) return EXIT.database
  const isWhole = isOver(overview) && counts.failed + counts.unknown === 0
  return isWhole ? EXIT.satisfied : EXIT.unknown
}
