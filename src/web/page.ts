// The script of the report. The page is complete without it; it brings to life what is there
// (report-view.ts) and opens what links lead to. It is bundled into the file and asks nothing of
// the network.

import type { PageData } from '../report/page/view.ts'
import { followLinks } from './links.ts'
import { showReport } from './report-view.ts'

const text = document.getElementById('data')?.textContent ?? '{}'
showReport(document, JSON.parse(text) as Partial<PageData>)
followLinks()
