// The script of the report. The page is complete without it; it opens steps to their reasons, walks
// case splits, links the pictures and the story, zooms, and copies texts. It is bundled into the
// file and asks nothing of the network.

import type { Figure } from '../report/picture/figure.ts'
import { addCopyButtons } from './copy.ts'
import { EvidenceView } from './evidence-view.ts'
import { followLinks } from './links.ts'

function start(): void {
  const data = document.getElementById('figures')?.textContent ?? '{}'
  const figures = JSON.parse(data) as Record<string, Figure>
  for (const [id, figure] of Object.entries(figures)) {
    const root = document.getElementById(id)
    if (root) new EvidenceView(root, figure).listen()
  }
  addCopyButtons(document)
  followLinks()
}

start()
