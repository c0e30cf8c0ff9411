// The script of the report. The page is complete without it; it opens steps to their reasons, walks
// case splits, links the pictures and the story, draws the overview, replays, zooms, and copies
// texts. It is bundled into the file and asks nothing of the network.

import type { PageData } from '../report/page/html.ts'
import { addCopyButtons } from './copy.ts'
import { EvidenceView } from './evidence-view.ts'
import { followLinks } from './links.ts'
import { showOverview } from './overview-view.ts'
import { Scrubber } from './scrubber.ts'

function start(): void {
  const text = document.getElementById('data')?.textContent ?? '{}'
  const { figures = {}, overview = null, replays = {} } = JSON.parse(text) as Partial<PageData>
  if (overview) showOverview(overview)
  const views = new Map<string, EvidenceView>()
  for (const [id, figure] of Object.entries(figures)) {
    const root = document.getElementById(id)
    if (!root) continue
    const view = new EvidenceView(root, figure)
    view.listen()
    views.set(id, view)
  }
  for (const [id, replay] of Object.entries(replays)) {
    const root = document.getElementById(`${id}-replay`)
    const view = views.get(`${id}-1`)
    if (root) new Scrubber(root, replay, (txn, op) => view?.showOp(txn, op))
  }
  addCopyButtons(document)
  followLinks()
}

start()
