// Commands that the documentation names in a sentence, too short or too general to be run: each of
// them exists, and so does each of its options. What stands in blocks is run (commands.test.ts).

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isobar } from '../cli/command.ts'
import { ROOT } from './blocks.ts'

const pages = ['README.md', ...readdirSync(`${ROOT}/docs`).map((name) => `docs/${name}`)]
const named = pages
  .filter((name) => name.endsWith('.md'))
  .flatMap((page) => {
    const text = readFileSync(`${ROOT}/${page}`, 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '')
    const found = text.matchAll(/`(?:npx )?isobar ([a-z]+)([^`]*)`/g)
    return [...found].map(([, command, rest]) => ({
      page,
      command: command!,
      options: [...rest!.matchAll(/(?<=\s)--[a-z-]+/g)].map((match) => match[0]),
    }))
  })
const commands = [...new Set(named.map(({ command }) => command))].sort()

/** What is not there. */
function findUnknown(help: string, options: readonly string[]): string[] {
  return options.filter((option) => !new RegExp(`${option}(?![a-z-])`).test(help))
}

describe('commands in the sentences of the documentation', () => {
  it('are many', () => {
    expect(named.length).toBeGreaterThan(80)
    expect(commands.length).toBeGreaterThan(12)
  })

  it.each(commands)('exist, and their options do: isobar %s', (command) => {
    const { code, out } = isobar([command, '--help'])
    expect(code).toBe(0)
    expect(out).toContain(`isobar ${command}`)
    for (const { page, command: other, options } of named) {
      if (other === command) expect(findUnknown(out, options), page).toEqual([])
    }
  })

  it('would be missed if they were gone', () => {
    expect(isobar(['chekc', '--help']).out).not.toContain('isobar chekc')
    expect(findUnknown('--level LEVEL  …', ['--level', '--levels'])).toEqual(['--levels'])
  })
})
