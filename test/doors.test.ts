// What programs see of the package, by its declarations as they are packed: every value that a door
// declares is there.

import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { DOORS } from '../scripts/declarations.mjs'

const DIST = join(resolve(import.meta.dirname, '..'), 'dist')
const files = DOORS.map((door) => join(DIST, `${door}.d.ts`))
const options = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022 }
const program = ts.createProgram(files, { ...options, skipLibCheck: true })
const checker = program.getTypeChecker()

function moduleOf(door: string): ts.Symbol {
  return checker.getSymbolAtLocation(program.getSourceFile(join(DIST, `${door}.d.ts`))!)!
}

describe.each(DOORS)('the door %s', (door) => {
  it('has the values that it declares, and no others', async () => {
    const declared = checker.getPropertiesOfType(checker.getTypeOfSymbol(moduleOf(door)))
    const there = Object.keys(await import(pathToFileURL(join(DIST, `${door}.js`)).href))
    expect(declared.map(({ name }) => name).toSorted()).toEqual(there.toSorted())
  })
})
