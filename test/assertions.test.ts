// Every `!` says something that the compiler does not know: that an index is in range, that a find
// finds. One that says nothing hides where there is something to say.

import { relative, resolve } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')

/** Places of `!` after what cannot be missing. */
function findIdle(program: ts.Program): string[] {
  const checker = program.getTypeChecker()
  const idle: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isNonNullExpression(node)) {
      const type = checker.getTypeAtLocation(node.expression)
      const isAny = (type.flags & ts.TypeFlags.Any) !== 0
      if (!isAny && checker.getNonNullableType(type) === type) {
        const file = node.getSourceFile()
        const { line } = file.getLineAndCharacterOfPosition(node.getStart())
        idle.push(`${relative(ROOT, file.fileName)}:${line + 1}: ${node.getText()}`)
      }
    }
    ts.forEachChild(node, visit)
  }
  for (const file of program.getSourceFiles()) {
    if (!file.isDeclarationFile && !file.fileName.includes('/node_modules/')) visit(file)
  }
  return idle
}

describe('non-null assertions', () => {
  it('say what the compiler does not know', () => {
    const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} }
    const config = ts.getParsedCommandLineOfConfigFile(resolve(ROOT, 'tsconfig.json'), {}, host)!
    const sources = config.fileNames.filter((file) => /\/src\//.test(file))
    expect(sources.length).toBeGreaterThan(500)
    expect(findIdle(ts.createProgram(sources, config.options))).toEqual([])
  })

  it('are found where they say nothing', () => {
    const text = 'const a = [1]\nexport const b = a[0]!\nexport const c = b!\n'
    const options: ts.CompilerOptions = { strict: true, noUncheckedIndexedAccess: true }
    const host = ts.createCompilerHost(options)
    const { getSourceFile } = host
    host.getSourceFile = (name, target) =>
      name === 'given.ts'
        ? ts.createSourceFile(name, text, target)
        : getSourceFile.call(host, name, target)
    const idle = findIdle(ts.createProgram(['given.ts'], options, host))
    expect(idle.map((place) => place.replace(/^.*given/, 'given'))).toEqual(['given.ts:3: b!'])
  })
})
