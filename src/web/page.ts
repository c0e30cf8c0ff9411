// The script of the report. The page is complete without it; it opens steps to their reasons, walks
// case splits, links the pictures and the story, draws the overview, zooms, and copies texts. It is
// bundled into the file and asks nothing of the network.

import type { PageData } from '../report/page/html.ts'
import { addCopyButtons } from './copy.ts'
import { EvidenceView } from './evidence-view.ts'
import { followLinks } from './links.ts'
import { showOverview } from './overview-view.ts'

function start(): void {
  const text = document.getElementById('data')?.textContent ?? '{}'
  const { figures = {}, overview = null } = JSON.parse(text) as Partial<PageData>
  if (overview) showOverview(overview)
  for (const [id, figure] of Object.entries(figures)) {
    const root = document.getElementById(id)
    if (root) new EvidenceView(root, figure).listen()
  }
  addCopyButtons(document)
  followLinks()
}

start()
