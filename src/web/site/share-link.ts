// A small history in the fragment of a link, which browsers send to nobody: compressed, in letters
// that need no escaping, with the levels asked for. Main functions: encodeShared, decodeShared.

import { InputError } from '../../base/errors.ts'

/** What a link carries. */
export interface Shared {
  readonly text: string
  /** null: every level that applies. */
  readonly levels: readonly string[] | null
}

/** Links beyond this are cut off by some programs that pass them on. */
const MAX_LINK = 8_000
/** What a link may unfold to: a few letters can stand for gigabytes. */
const MAX_SHARED = 200_000

/** The fragment without its number sign; null if the history is too large for a link. */
export async function encodeShared({ text, levels }: Shared): Promise<string | null> {
  if (text.length > MAX_SHARED) return null
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer())
  if (bytes.length > MAX_LINK) return null
  const letters = btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
  const fragment = `h=${letters}${levels ? `&l=${levels.map(encodeURIComponent).join(',')}` : ''}`
  return fragment.length > MAX_LINK ? null : fragment
}

/** What the fragment carries; null if it is none of ours. Throws InputError for a broken one. */
export async function decodeShared(fragment: string): Promise<Shared | null> {
  const found = /^#?h=([^&]*)(?:&l=([^&]*))?$/.exec(fragment)
  if (!found) return null
  try {
    const letters = found[1]!.replaceAll('-', '+').replaceAll('_', '/')
    const bytes = Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0))
    const text = await unpack(bytes)
    const levels = found[2] ? found[2].split(',').map(decodeURIComponent) : null
    return { text, levels }
  } catch (error) {
    if (error instanceof InputError) throw error
    const hint = 'was the end of it cut off on its way?'
    throw new InputError('broken-link', 'the history in this link is damaged', null, hint)
  }
}

async function unpack(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  const reader = stream.getReader()
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    text += decoder.decode(value, { stream: true })
    if (text.length <= MAX_SHARED) continue
    await reader.cancel()
    throw new InputError('large-link', 'the history in this link is too large')
  }
}
