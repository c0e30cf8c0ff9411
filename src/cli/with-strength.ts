// What verdicts are worth, behind what `isobar check` tells of them (--strength). Main function:
// withStrength.

import type { History } from '../history/history.ts'

export async function withStrength(
  text: Iterable<string>,
  history: History,
): Promise<Iterable<string>> {
  const [{ measureStrength }, { tellStrength }] = await Promise.all([
    import('../pipeline/strength/measure-strength.ts'),
    import('../pipeline/strength/tell-strength.ts'),
  ])
  return (function* () {
    yield* text
    yield '\nHow strong the test was:\n'
    for (const line of tellStrength(measureStrength(history))) yield `  ${line}\n`
  })()
}
