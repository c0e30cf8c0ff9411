// The declarations of the package, rolled up into dist, a file for each door that programs import
// from. Main function: writeDeclarations.

import { fileURLToPath } from 'node:url'
import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'

const ROOT = new URL('..', import.meta.url)
const pathOf = (name) => fileURLToPath(new URL(name, ROOT))

const APPLICATION = ['application/embedded', 'application/pg', 'application/race/race']
/** Under src/, what package.json exports. */
export const DOORS = ['index', 'matchers/vitest', 'matchers/jest', ...APPLICATION]

export const entries = (names) =>
  Object.fromEntries(names.map((name) => [name, pathOf(`src/${name}.ts`)]))
export const isForeign = (id) => !/^(\.|\/|[A-Za-z]:)/.test(id)

/**
 * Declarations rolled up forget which classes are exported as types alone: all that are not among
 * the values of a door are.
 */
const typesAlone = (values) => ({
  name: 'types-alone',
  renderChunk(code, { name, isEntry }) {
    if (!isEntry) return null
    const isValue = (word) => values.get(name).includes(word.split(' as ').at(-1))
    const clause = (kind, words, from) =>
      words.length === 0 ? [] : [`${kind} { ${words.join(', ')} }${from}`]
    return code.replace(/^export \{ (.*) \}(.*)$/gm, (_, list, from) => {
      const words = list.split(', ')
      return [
        ...clause('export', words.filter(isValue), from),
        ...clause(
          'export type',
          words.filter((word) => !isValue(word)),
          from,
        ),
      ].join('\n')
    })
  },
})

/** @param values each door -> the values that it exports */
export async function writeDeclarations(values) {
  const declarations = await rollup({
    input: entries(DOORS),
    external: isForeign,
    plugins: [dts({ tsconfig: pathOf('tsconfig.build.json') }), typesAlone(values)],
  })
  await declarations.write({
    dir: pathOf('dist'),
    format: 'es',
    chunkFileNames: 'chunks/[name].d.ts',
  })
}
