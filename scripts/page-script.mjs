// Bundles the script and the style sheet of the report, with the licence of the layout library they
// contain. Main function: bundlePage.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = new URL('..', import.meta.url)

/** @returns {Promise<{ script: string, style: string }>} */
export async function bundlePage() {
  const licence = readFileSync(new URL('node_modules/@dagrejs/dagre/LICENSE', ROOT), 'utf8')
  const { outputFiles } = await build({
    absWorkingDir: fileURLToPath(ROOT),
    entryPoints: ['src/web/page.ts', 'src/web/page.css'],
    outdir: 'dist/web',
    write: false,
    bundle: true,
    charset: 'utf8',
    minify: true,
    format: 'iife',
    target: 'es2022',
    legalComments: 'none',
    banner: { js: `/*! Contains @dagrejs/dagre and @dagrejs/graphlib.\n${licence.trim()}\n*/` },
  })
  const textOf = (ending) => outputFiles.find(({ path }) => path.endsWith(ending)).text
  return { script: textOf('.js'), style: textOf('.css') }
}
