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

export async function writeDeclarations() {
  const declarations = await rollup({
    input: entries(DOORS),
    external: isForeign,
    plugins: [dts({ tsconfig: pathOf('tsconfig.build.json') })],
  })
  await declarations.write({
    dir: pathOf('dist'),
    format: 'es',
    chunkFileNames: 'chunks/[name].d.ts',
  })
}
