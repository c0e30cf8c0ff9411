// Builds the package: what its entry points need is bundled into dist, with what several of them
// share in dist/chunks, because loading a few files starts the command line twice as fast as loading
// hundreds (0.12 instead of 0.23 s). The script and the style sheet of the report go into dist/web,
// small enough to be put into every report, with the licence of the layout library they contain.
// Dependencies of the package stay imports. Declarations come from the compiler, afterwards.

import { readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = new URL('..', import.meta.url)
const common = { absWorkingDir: fileURLToPath(ROOT), bundle: true, charset: 'utf8' }

rmSync(new URL('dist', ROOT), { recursive: true, force: true }) // names of chunks change
await build({
  ...common,
  entryPoints: ['index', 'cli/main', 'matchers/vitest', 'matchers/jest'].map(
    (at) => `src/${at}.ts`,
  ),
  outbase: 'src',
  outdir: 'dist',
  // One folder below dist, like the command line: both find the package's files the same way.
  chunkNames: 'chunks/[name]-[hash]',
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
})

const licence = readFileSync(new URL('node_modules/@dagrejs/dagre/LICENSE', ROOT), 'utf8')
await build({
  ...common,
  entryPoints: ['src/web/page.ts', 'src/web/page.css'],
  outdir: 'dist/web',
  minify: true,
  format: 'iife',
  target: 'es2022',
  legalComments: 'none',
  banner: { js: `/*! Contains @dagrejs/dagre and @dagrejs/graphlib.\n${licence.trim()}\n*/` },
})
