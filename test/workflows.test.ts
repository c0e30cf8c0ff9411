// The files for GitHub are well-formed, and run what they say. They have not run there yet.

import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseDocument } from 'yaml'

const ROOT = resolve(import.meta.dirname, '..')

function read(path: string) {
  const document = parseDocument(readFileSync(join(ROOT, path), 'utf8'), { strict: true })
  expect(document.errors, path).toEqual([])
  expect(document.warnings, path).toEqual([])
  return document.toJS()
}

interface Job {
  'runs-on': string
  strategy?: { matrix: { os: string[] } }
  steps: ({ run: string } | { uses: string })[]
}

const commandsOf = ({ steps }: Job) => steps.flatMap((step) => ('run' in step ? [step.run] : []))

describe('.github', () => {
  it('runs .ci/run on Linux, and npm test on macOS and Windows', () => {
    const { jobs } = read('.github/workflows/test.yml') as { jobs: Record<string, Job> }
    expect(commandsOf(jobs['linux']!)).toEqual(['bash .ci/run'])
    expect(jobs['linux']!['runs-on']).toBe('ubuntu-latest')
    expect(readFileSync(join(ROOT, '.ci/run'), 'utf8')).toMatch(
      /^scripts\/live-databases\.sh run npm test$/m,
    )
    expect(commandsOf(jobs['others']!)).toEqual(['npm ci', 'npm test'])
    expect(jobs['others']!.strategy!.matrix.os).toEqual(['macos-latest', 'windows-latest'])
  })

  it('says that the workflows have not run yet', () => {
    for (const name of readdirSync(join(ROOT, '.github/workflows'))) {
      const text = readFileSync(join(ROOT, '.github/workflows', name), 'utf8')
      expect(text).toMatch(/^# Not yet run/)
    }
  })

  it('asks for what a report needs', () => {
    const templates = readdirSync(join(ROOT, '.github/ISSUE_TEMPLATE'))
    const forms = templates.filter((name) => name !== 'config.yml')
    expect(forms.length).toBeGreaterThan(1)
    for (const name of forms) {
      const { body, ...about } = read(`.github/ISSUE_TEMPLATE/${name}`)
      expect(about).toEqual({ name: expect.any(String), description: expect.any(String) })
      const ids = body.map(({ id }: { id: string }) => id)
      expect(new Set(ids).size).toBe(body.length)
      for (const { attributes } of body) expect(attributes.label).toMatch(/^[A-Z]/)
    }
    expect(read('.github/ISSUE_TEMPLATE/config.yml')).toEqual({ blank_issues_enabled: false })
  })

  it('names no address that does not exist', () => {
    for (const name of ['SECURITY.md', 'CODE_OF_CONDUCT.md', 'CONTRIBUTING.md']) {
      expect(readFileSync(join(ROOT, name), 'utf8'), name).not.toMatch(/https?:|[\w.]@[\w.]/)
    }
  })
})
