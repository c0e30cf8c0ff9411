// Writes docs/glossary.md: every level, anomaly and small history, in the words of `isobar explain`.
//
//   npm run glossary

import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { TOPICS } from '../src/levels/glossary.ts'
import { findForbidding } from '../src/pipeline/forbidding.ts'
import { explainMarkdown } from '../src/report/explain.ts'

export async function renderGlossary(): Promise<string> {
  const parts: Record<string, string[]> = { level: [], anomaly: [], case: [] }
  for (const topic of TOPICS) {
    parts[topic.kind]!.push(explainMarkdown(topic, await findForbidding(topic)))
  }
  return `${[
    '# Glossary',
    '',
    'What every level and every anomaly means for an application. The same text is printed by `isobar explain NAME`. What each',
    'level demands to the letter is in [What each level means](levels.md), what each name must show in',
    '[What each anomaly must show](anomalies.md). Which levels forbid an anomaly was judged on the history shown.',
    '',
    '## Levels',
    '',
    ...parts['level']!,
    '## Anomalies',
    '',
    ...parts['anomaly']!,
    '## Small histories',
    '',
    'On each of these a checker, or a reader, is known to have gone wrong.',
    '',
    ...parts['case']!,
  ]
    .join('\n')
    .trimEnd()}\n`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(new URL('../docs/glossary.md', import.meta.url), await renderGlossary())
}
