// The bundled script and style sheet of the report as the build made them, wherever the library
// runs: the module is found through the package's own imports, and digests are those of the Web.

import { PICTURE_STYLE } from '../picture/style.ts'
import { CONFORMANCE_STYLE } from './conformance-page.ts'
import type { PageAssets } from './document.ts'
import { INDEX_STYLE } from './index-page.ts'

export async function loadPageAssets(): Promise<PageAssets> {
  const { script, style } = await import('#page-assets')
  const digests = new Map<string, string>()
  for (const text of [PICTURE_STYLE, INDEX_STYLE, CONFORMANCE_STYLE, style, script])
    digests.set(text, await digestOf(text))
  return { script, style, sha256: (text) => digests.get(text)! }
}

async function digestOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return btoa(String.fromCharCode(...new Uint8Array(digest)))
}
