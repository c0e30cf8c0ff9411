// Which anomalies a report shows, and in what order. Levels imply each other, so the same evidence
// comes back at every stronger level: it is shown once, with all the levels it violates. Other
// evidence of the same kind about the same transactions stands below it. Main function: findSections.

import type { LevelId } from '../../levels/levels.ts'
import { stringify } from '../json.ts'
import type { AnomalyJson, VerdictJson } from '../verdict-json.ts'

/** One piece of evidence, and the levels it violates. */
export interface Evidence {
  anomaly: AnomalyJson
  levels: LevelId[]
}

/** One anomaly: its evidence, the first for the weakest level. */
export interface Section {
  name: string
  evidence: Evidence[]
}

export function findSections(verdict: VerdictJson): Section[] {
  const sections = new Map<string, Section>()
  const known = new Map<string, Evidence>()
  for (const result of verdict.results) {
    for (const anomaly of result.anomalies) {
      const content = stringify(anomaly)
      const same = known.get(content)
      if (same) {
        same.levels.push(result.level)
        continue
      }
      const evidence: Evidence = { anomaly, levels: [result.level] }
      known.set(content, evidence)
      const title = JSON.stringify([anomaly.name, [...anomaly.transactions].sort()])
      const section = sections.get(title)
      if (section) section.evidence.push(evidence)
      else sections.set(title, { name: anomaly.name, evidence: [evidence] })
    }
  }
  return [...sections.values()]
}
