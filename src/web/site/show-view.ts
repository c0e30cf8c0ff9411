// Puts a report into the page: the markup as the worker made it, brought to life by the script of
// the report, which is loaded when the first one is shown. Main function: showView.

import type { ReportView } from '../../report/page/view.ts'

/** @param parts which parts of it, from top to bottom */
export async function showView(
  place: HTMLElement,
  view: ReportView,
  parts: readonly ('top' | 'overview' | 'findings' | 'about')[] = [
    'top',
    'overview',
    'findings',
    'about',
  ],
): Promise<void> {
  // Everything in it that comes from a history was escaped where it was made (report/escape.ts).
  place.innerHTML = parts.map((part) => view[part]).join('\n')
  const { showReport } = await import('../report-view.ts')
  showReport(place, view.data)
}
