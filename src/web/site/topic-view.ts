// What was found in a history of the glossary, as a report shows it: loaded while it is judged, so
// that the verdict waits for no picture. Main function: viewTopic.

import { nameOf } from '../../levels/glossary.ts'
import { describeVerdict } from '../../report/describe-verdict.ts'
import { renderHarmless } from '../../report/page/harmless.ts'
import { type ReportView, renderView } from '../../report/page/view.ts'
import type { JudgedTopic } from './study.ts'

export function viewTopic({ topic, history, asked, results, found }: JudgedTopic): ReportView {
  const levels = asked?.map(({ level }) => level) ?? null
  const context = { path: nameOf(topic), format: 'native', parseMs: 0, asked: levels }
  const verdict = describeVerdict(history, results, context)
  const view = renderView(verdict)
  return found.length > 0 ? view : { ...view, ...renderHarmless(history, verdict) }
}
