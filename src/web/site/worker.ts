// The worker of the site: reads, judges and renders, so that the page never waits. It keeps the
// last verdict, of which files can be had. What it needs for SQL comes when it is used.

import { nowMs, type Stage } from '../../base/deadline.ts'
import { UsageError } from '../../base/errors.ts'
import { stringify } from '../../base/json.ts'
import type { History } from '../../history/history.ts'
import { idOf } from '../../levels/levels.ts'
import { readLevel } from '../../levels/words.ts'
import type { VerdictJson } from '../../verdict/verdict-file.ts'
import { describeFailure } from './failure.ts'
import type { Answer, Checked, Download, FileMade, Progress, Request, Told } from './protocol.ts'
import { readSource } from './read-source.ts'

/** Between two words about how far it is. */
const PROGRESS_MS = 100

/** Fetched while the first history is read. */
const deciders = Promise.all([
  import('../../check/judge.ts'),
  import('../../report/describe-verdict.ts'),
  import('../../report/page/view.ts'),
  import('../../report/page/further.ts'),
])

let latest: { history: History; verdict: VerdictJson } | null = null

addEventListener('message', async ({ data }: MessageEvent<{ id: number; request: Request }>) => {
  const { id, request } = data
  const send = (told: Omit<Told, 'id'>) => postMessage({ id, ...told } satisfies Told)
  try {
    send({ answer: await answer(request, (progress) => send({ progress })) })
  } catch (error) {
    send({ answer: describeFailure(error) })
  }
})

async function answer(request: Request, tell: (progress: Progress) => void): Promise<Answer> {
  if (request.kind === 'check') return check(request, seldom(tell))
  if (request.kind === 'download') return makeFile(request.what)
  if (request.kind === 'differ') {
    const { findDifferences } = await import('./differences.ts')
    return findDifferences(request, seldom(tell))
  }
  if (request.kind === 'topic') {
    const { findForbidding } = await import('../../pipeline/forbidding.ts')
    const { findTopic } = await import('../../levels/glossary.ts')
    return { kind: 'topic', forbidding: await findForbidding(findTopic(request.name)!) }
  }
  const { findMending } = await import('./study.ts')
  return findMending(request.text, request.level)
}

/** Lets through what comes first, and after that a word now and then. */
function seldom(tell: (progress: Progress) => void): (words: string, share?: number) => void {
  let toldMs = Number.NEGATIVE_INFINITY
  return (words, share) => {
    const now = nowMs()
    if (now - toldMs < PROGRESS_MS) return
    toldMs = now
    tell({ words, share: share ?? null })
  }
}

async function check(
  { source, levels }: Request & { kind: 'check' },
  tell: (words: string, share?: number) => void,
): Promise<Checked> {
  latest = null
  const startMs = nowMs()
  const { history, name, format } = await readSource(source, (share) => tell('reading', share))
  const parseMs = nowMs() - startMs
  const [{ judge }, { describeVerdict }, { renderView }, { FURTHER }] = await deciders
  const asked = levels?.map((level) => readLevel(level)) ?? null
  const onTick = ({ level, phase }: Readonly<Stage>) =>
    tell(level === null ? phase : `${level}: ${phase}`)
  const results = await judge(history, asked, { onTick })
  tell('describing')
  const context = { path: name, format, parseMs, asked: asked?.map(idOf) ?? null }
  const verdict = describeVerdict(history, results, context)
  latest = { history, verdict }
  tell('drawing')
  return {
    kind: 'checked',
    format,
    view: renderView(verdict, { further: FURTHER }),
    outcomes: verdict.results.map((result) => [result.level, result.verdict] as const),
  }
}

async function makeFile(what: Download): Promise<FileMade> {
  if (latest === null) throw new UsageError('nothing was checked yet')
  const { history, verdict } = latest
  const stem = verdict.path.replace(/(\.(gz|jsonl?|txt|edn))+$/, '').replace(/[^\w.-]+/g, '-')
  const made = (ending: string, type: string, parts: BlobPart[]): FileMade => ({
    kind: 'file',
    name: `${stem}${ending}`,
    blob: new Blob(parts, { type }),
  })
  if (what === 'verdict') return made('.verdict.json', 'application/json', [stringify(verdict)])
  if (what === 'history') {
    const { findFormat } = await import('../../formats/formats.ts')
    const chunks: BlobPart[] = []
    findFormat('native')!.write(history, (bytes) => chunks.push(bytes.slice()))
    return made('.jsonl', 'application/x-ndjson', chunks)
  }
  const [{ renderHtml }, { loadPageAssets }] = await Promise.all([
    import('../../report/page/html.ts'),
    import('../../report/page/assets.ts'),
  ])
  return made('.html', 'text/html', [renderHtml(verdict, await loadPageAssets())])
}
