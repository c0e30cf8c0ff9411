// A small history in which nothing is wrong, as findings are shown: its sessions as a picture, and
// its replay. Main function: renderHarmless.

import type { History } from '../../history/history.ts'
import type { AnomalyJson, VerdictJson } from '../../verdict/verdict-file.ts'
import { describeTxn } from '../describe-txn.ts'
import { escapeMarkup as esc } from '../escape.ts'
import { Example } from '../example.ts'
import { buildFigure } from '../picture/figure.ts'
import { renderLanes } from '../picture/lanes-svg.ts'
import { tellAxis } from '../picture/time-axis.ts'
import { firstView } from '../picture/visible.ts'
import { buildReplay } from '../replay.ts'
import { renderReplay } from './replay.ts'
import type { ReportView } from './view.ts'

const ID = 'whole'

/** The findings and the data of a report, of all transactions at once. */
export function renderHarmless(
  history: History,
  verdict: VerdictJson,
): Pick<ReportView, 'findings' | 'data'> {
  const transactions = Array.from({ length: history.txnCount }, (_, txn) =>
    describeTxn(history, txn),
  )
  const names = transactions.map(({ id }) => id)
  const nothing: AnomalyJson = {
    ...{ name: '', tap: null, adya: null, meaning: null, story: null, count: 0 },
    ...{ transactions: names, core: names, earlier: [], ops: [], edges: [], cases: [] },
  }
  const example = new Example({ ...verdict, transactions }, nothing)
  const figure = buildFigure(example)
  const replay = buildReplay(example, verdict.initial)
  const lanes = renderLanes(figure, firstView(figure), { interactive: true })
  const findings = [
    `<section class="finding"><h3>All transactions</h3><div class="evidence" id="${ID}-1">`,
    `<figure class="sessions"><figcaption>Sessions <span>${esc(tellAxis(figure))}</span></figcaption>`,
    `<div class="canvas isobar" data-view="lanes" tabindex="0">${lanes}</div></figure>`,
    '<p class="explain" aria-live="polite">Nothing in this picture is forbidden by any level.</p>',
    '</div>',
    replay ? renderReplay(replay, `${ID}-replay`) : '',
    '</section>',
  ].join('\n')
  const replays = replay ? { [ID]: replay } : {}
  return { findings, data: { figures: { [ID]: [figure] }, overview: null, replays } }
}
