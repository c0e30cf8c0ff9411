// What the release script does to the changelog.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { cutRelease } from '../scripts/changelog.ts'

describe('cutRelease', () => {
  it('dates what was unreleased, and leaves the themes as they are', () => {
    const text = '# Changelog\n\n## Unreleased\n\n**Levels.** More.\n\n## 0.1.0 (2026-01-01)\n'
    expect(cutRelease(text, '0.2.0', '2026-02-03')).toBe(
      '# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-02-03)\n\n**Levels.** More.\n\n## 0.1.0 (2026-01-01)\n',
    )
  })

  it('refuses a changelog in which nothing is unreleased', () => {
    expect(() => cutRelease('# Changelog\n', '0.2.0', '2026-02-03')).toThrow('no "Unreleased"')
    const nothing = '## Unreleased\n\n## 0.1.0 (2026-01-01)\n'
    expect(() => cutRelease(nothing, '0.2.0', '2026-02-03')).toThrow('nothing is unreleased')
    expect(() => cutRelease('## Unreleased\n', '0.2.0', '2026-02-03')).toThrow('nothing')
  })

  it('takes the changelog of this project', () => {
    const text = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8')
    expect(cutRelease(text, '9.9.9', '2026-02-03')).toContain('## 9.9.9 (2026-02-03)\n')
  })
})
