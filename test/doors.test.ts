// What programs see of the package, by its declarations as they are packed: every value that a door
// declares is there, every type that it speaks of can be imported, and each says what it is for.

import { join, resolve, sep } from 'node:path'
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

const original = (symbol: ts.Symbol) =>
  symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol

/** What a door exports: its name -> what it is. */
function exportsOf(door: string): Map<string, ts.Symbol> {
  const symbols = checker.getExportsOfModule(moduleOf(door))
  return new Map(symbols.map((symbol) => [symbol.name, original(symbol)]))
}

/** Declared at the top of one of our files: what has to be imported to be named. */
function isOurs(symbol: ts.Symbol): boolean {
  return (symbol.declarations ?? []).some((declaration) => {
    const { parent } = ts.isVariableDeclaration(declaration) ? declaration.parent : declaration
    return ts.isSourceFile(parent) && parent.fileName.startsWith(DIST.replaceAll(sep, '/'))
  })
}

/** All of our types that a declaration names; what fields are made of is none to be named. */
function namedIn(node: ts.Node, found: Set<ts.Symbol>): void {
  if (ts.isExpressionWithTypeArguments(node) && node.expression.getText() === 'FieldsOf') return
  if (ts.isTypeReferenceNode(node) || ts.isExpressionWithTypeArguments(node)) {
    add(ts.isTypeReferenceNode(node) ? node.typeName : node.expression)
  }
  if (ts.isTypeQueryNode(node)) add(node.exprName)
  ts.forEachChild(node, (child) => namedIn(child, found))

  function add(name: ts.Node): void {
    const symbol = checker.getSymbolAtLocation(name)
    if (symbol && isOurs(original(symbol))) found.add(original(symbol))
  }
}

describe.each(DOORS)('the door %s', (door) => {
  it('has the values that it declares, and no others', async () => {
    const declared = checker.getPropertiesOfType(checker.getTypeOfSymbol(moduleOf(door)))
    const there = Object.keys(await import(pathToFileURL(join(DIST, `${door}.js`)).href))
    expect(declared.map(({ name }) => name).toSorted()).toEqual(there.toSorted())
  })

  it('exports every type that its exports speak of, or the library does', () => {
    const here = new Set([...exportsOf(door).values(), ...exportsOf('index').values()])
    const named = new Set<ts.Symbol>()
    for (const symbol of exportsOf(door).values())
      for (const declaration of symbol.declarations ?? []) namedIn(declaration, named)
    const missing = [...named].filter((symbol) => !here.has(symbol)).map(({ name }) => name)
    expect(missing.toSorted()).toEqual([])
  })

  it('says of each export what it is for, of functions and classes with an example', () => {
    const silent: string[] = []
    const values = checker.getPropertiesOfType(checker.getTypeOfSymbol(moduleOf(door)))
    const isThere = new Set(values.map(original))
    for (const [name, symbol] of exportsOf(door)) {
      const kinds = ts.SymbolFlags.Function | ts.SymbolFlags.Class
      const isCalled = isThere.has(symbol) && symbol.flags & kinds
      const tags = symbol.getJsDocTags(checker).map((tag) => tag.name)
      const hasExample = tags.includes('example')
      const text = ts.displayPartsToString(symbol.getDocumentationComment(checker))
      if (text === '') silent.push(name)
      if ((isCalled || name.endsWith('Options')) && !hasExample) silent.push(`${name}: example`)
    }
    expect(silent.toSorted()).toEqual([])
  })
})
