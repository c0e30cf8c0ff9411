// Brings a report to life that is in the page: links its pictures and its story, draws the
// overview, replays, zooms, and copies texts. Main function: showReport.

import type { PageData } from '../report/page/view.ts'
import { addCopyButtons } from './copy.ts'
import { EvidenceView } from './evidence-view.ts'
import { showOverview } from './overview-view.ts'
import { Scrubber } from './scrubber.ts'

export function showReport(root: ParentNode, data: Partial<PageData>): void {
  const { figures = {}, overview = null, replays = {} } = data
  if (overview) showOverview(overview)
  const views = new Map<string, EvidenceView>()
  for (const [id, figure] of Object.entries(figures)) {
    const place = document.getElementById(id)
    if (!place) continue
    const view = new EvidenceView(place, figure)
    view.listen()
    views.set(id, view)
  }
  for (const [id, replay] of Object.entries(replays)) {
    const place = document.getElementById(`${id}-replay`)
    const view = views.get(`${id}-1`)
    if (place) new Scrubber(place, replay, (txn, op) => view?.showOp(txn, op))
  }
  addCopyButtons(root)
}
