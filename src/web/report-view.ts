// Brings a report to life that is in the page: links its pictures and its story, draws the
// overview, replays, zooms, and copies texts. Main function: showReport.

import type { PageData } from '../report/page/view.ts'
import { addCopyButtons } from './copy.ts'
import { EvidenceView } from './evidence-view.ts'
import { Scrubber } from './scrubber.ts'

export function showReport(root: ParentNode, data: Partial<PageData>): void {
  const { figures = {}, overview = null, replays = {} } = data
  if (overview) void import('./overview-view.ts').then((view) => view.showOverview(overview))
  for (const [id, ofFinding] of Object.entries(figures)) {
    const [first] = ofFinding.map((figure, i) => {
      const place = document.getElementById(`${id}-${i + 1}`)
      const view = place && new EvidenceView(place, figure)
      view?.listen()
      return view
    })
    const place = document.getElementById(`${id}-replay`)
    const replay = replays[id]
    if (place && replay) new Scrubber(place, replay, (txn, op) => first?.showOp(txn, op))
  }
  addCopyButtons(root)
}
