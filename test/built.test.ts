// A build is left out only where it would make what is there.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { isBuilt, noteBuilt } from '../scripts/built.mjs'
import { makeFolder } from './cli/command.ts'

const root = makeFolder()
const put = (name: string, text: string) => {
  mkdirSync(dirname(join(root, name)), { recursive: true })
  writeFileSync(join(root, name), text)
}

beforeEach(() => {
  for (const name of ['package.json', 'src/a.ts', 'docs/a.md', 'dist/a.js']) put(name, name)
  rmSync(join(root, 'src/new.ts'), { force: true })
  noteBuilt(root)
})

describe('isBuilt', () => {
  it('is so after a build, and where the same bytes were written again', () => {
    expect(isBuilt(root)).toBe(true)
    put('src/a.ts', 'src/a.ts')
    put('test/a.ts', 'no part of it')
    put('dist/cache/a.js', 'left by a run')
    expect(isBuilt(root)).toBe(true)
  })

  it.each(['package.json', 'src/a.ts', 'src/new.ts', 'docs/a.md', 'dist/a.js'])(
    'is not so when %s has changed',
    (name) => {
      put(name, 'changed')
      expect(isBuilt(root)).toBe(false)
    },
  )

  it('is not so without what was made, or a note of it', () => {
    rmSync(join(root, 'node_modules/.cache/built'))
    expect(isBuilt(root)).toBe(false)
    noteBuilt(root)
    rmSync(join(root, 'dist'), { recursive: true })
    expect(isBuilt(root)).toBe(false)
  })
})
