// The last words on a directory: how many histories violate what, per level and per pattern.

import { counted } from '../base/counted.ts'
import { stringify } from '../base/json.ts'
import { obtain } from '../base/maps.ts'
import { findAnomaly } from '../levels/anomalies.ts'
import { PROFILE } from '../levels/levels.ts'
import { plain } from '../report/names.ts'
import { FILE_VERSION } from '../verdict/file-version.ts'
import type { LevelResult, Outcome } from '../verdict/verdict.ts'

export class DirectorySummary {
  private histories = 0
  private unreadable = 0
  private readonly skipped: string[] = []
  private readonly levels = new Map<string, Record<Outcome, number>>()
  private readonly patterns = new Map<string, number>() // anomaly -> histories that show it

  add(results: readonly LevelResult[]): void {
    this.histories++
    const names = new Set<string>()
    for (const { level, verdict, anomalies } of results) {
      obtain(this.levels, level, () => ({ satisfied: 0, violated: 0, unknown: 0 }))[verdict]++
      for (const anomaly of anomalies) names.add(anomaly.name)
    }
    for (const name of names) this.patterns.set(name, (this.patterns.get(name) ?? 0) + 1)
  }

  skip(path: string): void {
    this.skipped.push(path)
  }

  fail(): void {
    this.unreadable++
  }

  renderText(): string {
    const histories = counted(this.histories, 'history', 'histories')
    const lines = ['', `${histories} checked, ${this.unreadable} unreadable`]
    const levels = this.sortedLevels()
    const width = Math.max(...levels.map(([level]) => level.length), 5)
    for (const [level, { satisfied, violated, unknown }] of levels) {
      const counts = `${satisfied} satisfied, ${violated} violated, ${unknown} unknown`
      lines.push(`  ${level.padEnd(width)} ${counts}`)
    }
    for (const [name, count] of this.sortedPatterns()) {
      const tap = findAnomaly(name)?.tap
      lines.push(`  ${tap ? `${tap} ` : '  '}${name}: ${counted(count, 'history', 'histories')}`)
    }
    for (const path of this.skipped) lines.push(`skipped, in no known format: ${plain(path)}`)
    return `${lines.join('\n')}\n`
  }

  renderJson(): string {
    const levels = Object.fromEntries(this.sortedLevels())
    const anomalies = Object.fromEntries(this.sortedPatterns())
    const { histories, unreadable, skipped } = this
    const summary = { histories, unreadable, skipped, levels, anomalies }
    return `${stringify({ isobar: FILE_VERSION, summary })}\n`
  }

  private sortedLevels(): [string, Record<Outcome, number>][] {
    const rank = (id: string) => (PROFILE as readonly string[]).indexOf(id)
    return [...this.levels].sort(([a], [b]) => rank(a) - rank(b))
  }

  private sortedPatterns(): [string, number][] {
    const tap = (name: string) => findAnomaly(name)?.tap ?? 'z'
    return [...this.patterns].sort(([a], [b]) => tap(a).localeCompare(tap(b)) || (a < b ? -1 : 1))
  }
}
