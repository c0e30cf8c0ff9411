// Bundles the script and the style sheet of the report into dist/web, small enough to be put into
// every report. The bundle contains the layout library, so its licence goes with it.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const licence = readFileSync(
  new URL('../node_modules/@dagrejs/dagre/LICENSE', import.meta.url),
  'utf8',
)

await build({
  entryPoints: ['src/web/page.ts', 'src/web/page.css'],
  outdir: 'dist/web',
  absWorkingDir: fileURLToPath(new URL('..', import.meta.url)),
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  banner: { js: `/*! Contains @dagrejs/dagre and @dagrejs/graphlib.\n${licence.trim()}\n*/` },
})
