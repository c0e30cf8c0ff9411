// How checking grows on the hardest histories known for weak levels (hard-families.ts), with and
// without certification: processor time of whole processes, and the exponent of its growth. The
// papers promise n^1.5 for rc and ra, n · k for cc, which is n^1.5 as well where each of √n
// transactions is a session. Main function: measureHard.

import { join } from 'node:path'
import { type Family, sideFor, writeFamily } from './hard-families.ts'
import { measureCheck } from './measure.ts'

const TITLE = '## Hard families'
const SIZES = [80_000, 160_000, 320_000, 640_000, 1_280_000]
const JUDGED = 320_000 // operations at which certification is held to its limit
const MAX_RATIO = 1.5

const SUBJECTS: { family: Family; name: string; levels: string[] }[] = [
  { family: 'edges', name: 'Figure 5', levels: ['rc', 'ra', 'cc'] },
  { family: 'nodes', name: 'Figure 6', levels: ['rc', 'ra', 'cc'] },
  { family: 'one-session', name: 'Figure 5, one session', levels: ['rc'] },
]

/** The section of the report. */
export function measureHard(folder: string, runs: number): string[] {
  const rows: string[] = []
  for (const { family, name, levels } of SUBJECTS) {
    const files = SIZES.map((size) => {
      const file = join(folder, `${family}-${size}.plume`)
      writeFamily(file, family, sideFor(family, size))
      return file
    })
    for (const level of levels) {
      const [certified, bare] = [[], ['--no-certify']].map((extra) =>
        files.map((file) => measureCheck(file, ['--level', level, ...extra], runs).cpuS),
      )
      const at = SIZES.indexOf(JUDGED)
      const ratio = certified![at]! / bare![at]!
      for (const [what, seconds] of [
        ['', certified!],
        [', not certified', bare!],
      ] as const) {
        const cells = [
          `${name}, ${level}${what}`,
          ...seconds.map((each) => each.toFixed(2)),
          exponent(seconds).toFixed(2),
          what === '' ? `${ratio.toFixed(2)} × ${ratio <= MAX_RATIO ? 'yes' : '**no**'}` : '',
        ]
        rows.push(`| ${cells.join(' | ')} |`)
        console.log(rows.at(-1))
      }
    }
  }
  return [
    TITLE,
    '',
    "AWDIT's Figures 5 and 6 on complete bipartite graphs: half of the reads are stale, each by as many",
    `versions as a side has nodes. CPU seconds of the whole process, median of ${runs}, by operations; the exponent`,
    'of growth from the first size to the last; and what certification makes of the time at 320,000',
    `operations, held to ${MAX_RATIO} ×. Figure 6 satisfies rc and ra and violates cc. Make it again with`,
    '`npm run bench -- --hard`.',
    '',
    `| family and level | ${SIZES.map((size) => size.toLocaleString('en')).join(' | ')} | exponent | certified, limit met |`,
    `|---|${SIZES.map(() => '---|').join('')}---|---|`,
    ...rows,
    '',
  ]
}

function exponent(seconds: readonly number[]): number {
  return Math.log(seconds.at(-1)! / seconds[0]!) / Math.log(SIZES.at(-1)! / SIZES[0]!)
}

/** The section as it stands in a report, empty if it does not. */
export function hardSection(report: string): string[] {
  const from = report.indexOf(TITLE)
  if (from < 0) return []
  const to = report.indexOf('\n## ', from)
  return report
    .slice(from, to < 0 ? undefined : to + 1)
    .split('\n')
    .slice(0, -1)
}

/** The report with this section in the place of the one it has, or before the sweeps. */
export function withHardSection(report: string, section: readonly string[]): string {
  const old = hardSection(report).join('\n')
  if (old !== '') return report.replace(old, () => section.join('\n'))
  return report.replace('## Sweeps', () => `${section.join('\n')}\n## Sweeps`)
}
