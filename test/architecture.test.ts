// ARCHITECTURE.md names places that exist: whoever wants to add something finds them.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')
const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
const whereToAdd = text.slice(text.indexOf('## Where to add'))

const quotedIn = (part: string) => [...part.matchAll(/`([\w./*#-]+)`/g)].map((match) => match[1]!)

/** Paths in backticks, with or without an ending; what has no slash is a name, not a place. */
const placesIn = (part: string) =>
  quotedIn(part).filter(
    (place) => /^(?!\.|#)[\w-]+\/[\w./*-]*$/.test(place) && !/^dist\//.test(place),
  )

/** A path from the root or below `src` or one of the rooms of `check`; `*` stands for any letters. */
function exists(place: string): boolean {
  return ['', 'src', 'src/check'].some((from) => {
    const path = join(ROOT, from, place)
    if (!place.includes('*')) return existsSync(path)
    const name = new RegExp(`^${path.slice(dirname(path).length + 1).replaceAll('*', '.*')}$`)
    return existsSync(dirname(path)) && readdirSync(dirname(path)).some((file) => name.test(file))
  })
}

describe('ARCHITECTURE.md', () => {
  it('names places that exist', () => {
    const places = placesIn(text)
    expect(places.length).toBeGreaterThan(60)
    expect(places.filter((place) => !exists(place))).toEqual([])
  })

  it('calls files by names that they have', () => {
    const files = ['src', 'scripts', 'docs'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }),
    )
    const known = new Set(files.map((file) => basename(file)))
    const names = quotedIn(text).filter((name) => /^[\w-]+\.(ts|mjs)$/.test(name))
    expect(names.length).toBeGreaterThan(200)
    expect(names.filter((name) => !known.has(name))).toEqual([])
  })

  it.each(['a level', 'a format', 'a database', 'an operation kind', 'a report'])(
    'says where to add %s',
    (what) => {
      const entry = whereToAdd.split('\n- ').find((each) => each.startsWith(`**${what}**`))
      expect(placesIn(entry ?? '').length, what).toBeGreaterThan(2)
    },
  )

  it('would notice a place that is gone', () => {
    expect(exists('check/nowhere.ts')).toBe(false)
    expect(exists('verdict/nowhere*.ts')).toBe(false)
    expect(exists('verdict/certify*.ts')).toBe(true)
  })
})
