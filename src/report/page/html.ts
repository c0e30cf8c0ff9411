// The report: one HTML file that needs nothing else, opens from disk and never asks the network
// for anything. The same verdict gives the same bytes. Main function: renderHtml.

import type { VerdictJson } from '../../verdict/verdict-file.ts'
import { scriptJson } from '../escape.ts'
import { PICTURE_STYLE } from '../picture/style.ts'
import { type PageAssets, renderDocument } from './document.ts'
import { FURTHER } from './further.ts'
import { type PageOptions, renderView } from './view.ts'

export function renderHtml(
  verdict: VerdictJson,
  assets: PageAssets,
  options: PageOptions = {},
): string {
  const { title, top, schedule, overview, findings, about, data } = renderView(verdict, {
    further: FURTHER,
    ...options,
  })
  const body = [
    '<a class="skip" href="#findings">Skip to the findings</a>',
    top,
    schedule,
    overview,
    '<main id="findings">',
    findings,
    about,
    '</main>',
    `<script type="application/json" id="data">${scriptJson(data)}</script>`,
  ]
  const { style, script } = assets
  return renderDocument({ title, styles: [PICTURE_STYLE, style], script, body }, assets)
}
