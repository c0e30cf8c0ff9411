// What the worker finds out for who compares two levels. Main function: findDifferences.

import { UTF8 } from '../../base/unicode.ts'
import { findFormat } from '../../formats/formats.ts'
import type { History } from '../../history/history.ts'
import { renderNotation } from '../../history/render-notation.ts'
import { readLevel } from '../../levels/words.ts'
import { differ } from '../../pipeline/differ/differ.ts'
import { describeVerdict } from '../../report/describe-verdict.ts'
import { FURTHER } from '../../report/page/further.ts'
import { renderView } from '../../report/page/view.ts'
import type { Differences, Request } from './protocol.ts'

/** Nobody waits longer for a page; up to how many operations it looked is told. */
const LOOKING_MS = 30_000
const MAX_OPS = 6

export async function findDifferences(
  { a, b, shape }: Request & { kind: 'differ' },
  tell: (words: string) => void,
): Promise<Differences> {
  const found = await differ(readLevel(a), readLevel(b), {
    shape,
    maxOps: MAX_OPS,
    budgetMs: LOOKING_MS,
    onTick: ({ level }) => tell(`looking: ${level} operations`),
  })
  return {
    kind: 'differences',
    found: found.map(({ allowedBy, forbiddenBy, history, results, ...rest }) => {
      const asked = [allowedBy.level, forbiddenBy.level]
      const about = { path: 'history', format: 'native', parseMs: 0, asked }
      return {
        allowedBy: allowedBy.level,
        forbiddenBy: forbiddenBy.level,
        text: history && textOf(history),
        view:
          history && renderView(describeVerdict(history, results!, about), { further: FURTHER }),
        ...rest,
      }
    }),
  }
}

/** The notation does not hold statements. */
function textOf(history: History): string {
  if (history.sql === null) return renderNotation(history)
  const lines: string[] = []
  findFormat('native')!.write(history, (bytes) => lines.push(UTF8.decode(bytes)))
  return lines.join('')
}
