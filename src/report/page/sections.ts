// Which anomalies a report shows, and in what order. Levels imply each other, so the same evidence
// comes back at every stronger level: it is shown once, with all the levels it violates. Other
// evidence of the same kind about the same transactions stands below it. Main function:
// findSections. Of a level that lists very many anomalies only the first ones are looked at.

import { stringify } from '../../base/json.ts'
import type { LevelId } from '../../levels/levels.ts'
import type { AnomalyJson, VerdictJson } from '../../verdict/verdict-file.ts'
import { Example } from '../example.ts'

/** One piece of evidence, and the levels it violates. */
export class Evidence {
  readonly levels: LevelId[] = []

  constructor(
    private readonly verdict: VerdictJson,
    readonly anomaly: AnomalyJson,
  ) {}

  /** What words and pictures are made of. */
  get example(): Example {
    return new Example(this.verdict, this.anomaly)
  }
}

/** One anomaly: its evidence, the first for the weakest level. */
export interface Section {
  name: string
  evidence: Evidence[]
  /** How much more evidence about the same transactions there is. */
  left: number
  /** The earlier section with the very same evidence, under another name. */
  sameAs: Section | null
}

const MAX_ANOMALIES = 1000 // of a level
const MAX_EVIDENCE = 8 // of a section

export function findSections(verdict: VerdictJson): Section[] {
  const sections = new Map<string, Section>()
  const known = new Map<string, Evidence>()
  const told = new Map<string, Section>() // evidence without its name -> where it was first told
  for (const result of verdict.results) {
    for (const anomaly of result.anomalies.slice(0, MAX_ANOMALIES)) {
      const content = stringify(anomaly)
      const same = known.get(content)
      if (same) {
        same.levels.push(result.level)
        continue
      }
      const evidence = new Evidence(verdict, anomaly)
      evidence.levels.push(result.level)
      known.set(content, evidence)
      const title = JSON.stringify([anomaly.name, [...anomaly.transactions].sort()])
      const section = sections.get(title)
      if (section) {
        if (section.evidence.length < MAX_EVIDENCE) section.evidence.push(evidence)
        else section.left++
        continue
      }
      const { name, ops, core, edges, cases, absence = null } = anomaly
      const proof = stringify({ ops, core, edges, cases, absence })
      const sameAs = told.get(proof) ?? null
      const made: Section = { name, evidence: [evidence], left: 0, sameAs }
      if (!sameAs) told.set(proof, made)
      sections.set(title, made)
    }
  }
  return [...sections.values()]
}
