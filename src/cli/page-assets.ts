// The bundled script and style sheet of the report, which the build puts into dist/web.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { InternalError } from '../base/errors.ts'
import type { PageAssets } from '../report/page/html.ts'

export function loadPageAssets(): PageAssets {
  return {
    script: readAsset('page.js'),
    style: readAsset('page.css'),
    sha256: (text) => createHash('sha256').update(text).digest('base64'),
  }
}

/** From the sources as from the build, the page stands in dist/web. */
function readAsset(name: string): string {
  try {
    return readFileSync(new URL(`../../dist/web/${name}`, import.meta.url), 'utf8')
  } catch {
    throw new InternalError(`the build is incomplete: dist/web/${name} is missing (npm run build)`)
  }
}
