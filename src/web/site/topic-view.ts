// What was found in a history of the glossary, as a report shows it: loaded while it is judged, so
// that the verdict waits for no picture. Main function: viewTopic.

import { nameOf } from '../../levels/glossary.ts'
import { describeVerdict } from '../../report/describe-verdict.ts'
import { renderHarmless } from '../../report/page/harmless.ts'
import { type ReportView, renderView } from '../../report/page/view.ts'
import type { JudgedTopic } from './study.ts'

export async function viewTopic(judged: JudgedTopic): Promise<ReportView> {
  const { topic, history, asked, results, found } = judged
  const levels = asked?.map(({ level }) => level) ?? null
  const context = { path: nameOf(topic), format: 'native', parseMs: 0, asked: levels }
  const verdict = describeVerdict(history, results, context)
  // Statements are worth typing into terminals; the editor has everything else.
  const isSql = history.sql !== null
  const further = isSql ? (await import('../../report/page/further.ts')).FURTHER : undefined
  const view = renderView(verdict, { further })
  return found.length > 0 ? view : { ...view, ...renderHarmless(history, verdict) }
}
