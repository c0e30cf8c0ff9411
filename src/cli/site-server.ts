// The server of `isobar serve`: the site at /, a folder below /reports/. It reads files and does
// nothing else: GET and HEAD only, no bodies, and only for those who know it by its own name, so
// that no page from elsewhere can reach it through a name that leads here. Main function:
// makeServer.

import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isIPv6 } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { escapeMarkup as esc } from '../report/escape.ts'
import { listServed, openServed, partsOf, type Served } from './served-files.ts'

export interface ServerOptions {
  /** The folder of the built site. */
  readonly site: string
  /** What is shown below /reports/; null if there is nothing. */
  readonly reports: string | null
  /** The address that is listened on. */
  readonly host: string
  /** What one has to know; null if everybody may look who is on this machine. */
  readonly token: string | null
}

const MAX_URL = 4096
const MAX_HEADER_BYTES = 16_384
const HEADERS_MS = 10_000
const REQUEST_MS = 30_000
const MAX_CONNECTIONS = 128

const COMMON = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
  'Cache-Control': 'no-cache',
}
const SITE_POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
/** Pages of the folder may be anybody's: they get an origin of their own, and reach nothing. */
const REPORT_POLICY =
  "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** As it stands in an address. */
export function hostInUrl(host: string): string {
  return isIPv6(host) ? `[${host}]` : host
}

export function makeServer(options: ServerOptions): Server {
  const limits = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
  }
  const server = createServer(limits, (request, response) => {
    answer(options, request, response).catch(() => {
      // The file went away, or who asked did.
      if (response.headersSent) response.destroy()
      else refuse(response, 500, 'the file could not be read')
    })
  })
  server.maxConnections = MAX_CONNECTIONS
  return server
}

async function answer(
  options: ServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method, headers, url = '/' } = request
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD')
    return refuse(response, 405, 'only GET and HEAD')
  }
  if (Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined) {
    return refuse(response, 413, 'nothing is taken here')
  }
  if (url.length > MAX_URL) return refuse(response, 414, 'the address is too long')
  if (!isOurName(options, headers.host)) return refuse(response, 421, 'this is not that host')
  const [path = '', query = ''] = url.split('?')
  if (options.token !== null && !isKnown(options.token, request, query)) {
    return refuse(response, 401, 'add ?token=… as it was set by --token')
  }
  if (options.token !== null && new URLSearchParams(query).has('token')) {
    // From here on a cookie says it, and the address no longer does.
    const cookie = `isobar=${digestOf(options.token)}; HttpOnly; SameSite=Lax; Path=/`
    response.setHeader('Set-Cookie', cookie)
    return redirect(response, path)
  }
  const parts = partsOf(path)
  if (parts === null) return refuse(response, 400, 'there is no such path')
  const [first, ...rest] = parts
  if (first === 'reports') return answerReport(options, request, response, path, rest)
  const file = await openServed(options.site, parts.length === 0 ? ['index.html'] : parts)
  if (file === null) return refuse(response, 404, 'there is nothing here')
  await send(request, response, file, SITE_POLICY)
}

async function answerReport(
  { reports }: ServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  parts: readonly string[],
): Promise<void> {
  if (reports === null) return refuse(response, 404, 'no folder was named: isobar serve DIR')
  const file = await openServed(reports, parts)
  if (file !== null) return send(request, response, file, REPORT_POLICY)
  const names = await listServed(reports, parts)
  if (names === null) return refuse(response, 404, 'there is nothing here')
  if (!path.endsWith('/')) return redirect(response, `${path}/`)
  const index = names.includes('index.html')
    ? await openServed(reports, [...parts, 'index.html'])
    : null
  if (index !== null) return send(request, response, index, REPORT_POLICY)
  const page = Buffer.from(renderList(parts, names))
  head(response, 200, 'text/html; charset=utf-8', page.length, SITE_POLICY)
  response.end(request.method === 'HEAD' ? undefined : page)
}

/** Without a name, or by another one, somebody else's page may be asking. */
function isOurName({ host }: ServerOptions, asked: string | undefined): boolean {
  const name = /^(\[[^\]]*\]|[^:]*)(:\d+)?$/.exec(asked?.toLowerCase() ?? '')?.[1] ?? ''
  if (name === '') return false
  if (isLoopback(name.replace(/^\[|\]$/g, ''))) return true
  // On all addresses nobody knows the names; there the token keeps others out.
  return host === '0.0.0.0' || host === '::' || name === hostInUrl(host).toLowerCase()
}

function isKnown(token: string, { headers }: IncomingMessage, query: string): boolean {
  const cookie = /(?:^|;\s*)isobar=([0-9a-f]+)/.exec(headers.cookie ?? '')?.[1]
  const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1]
  const given = bearer ?? new URLSearchParams(query).get('token')
  const digest = given === null ? (cookie ?? '') : digestOf(given)
  const [mine, theirs] = [Buffer.from(digestOf(token)), Buffer.from(digest)]
  return mine.length === theirs.length && timingSafeEqual(mine, theirs)
}

function digestOf(text: string): string {
  return createHash('sha256').update(`isobar ${text}`).digest('hex')
}

function head(
  response: ServerResponse,
  status: number,
  type: string,
  bytes: number,
  policy: string,
): void {
  response.writeHead(status, {
    ...COMMON,
    'Content-Security-Policy': policy,
    'Content-Type': type,
    'Content-Length': bytes,
  })
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  { file, size, type }: Served,
  policy: string,
): Promise<void> {
  try {
    head(response, 200, type, size, policy)
    if (request.method === 'HEAD' || size === 0) response.end()
    else await pipeline(file.createReadStream({ end: size - 1, autoClose: false }), response)
  } finally {
    await file.close()
  }
}

/** Only ever to this server: a second slash would begin the name of another. */
function redirect(response: ServerResponse, path: string): void {
  response.setHeader('Location', path.replace(/^\/+/, '/'))
  head(response, 302, 'text/plain; charset=utf-8', 0, SITE_POLICY)
  response.end()
}

function refuse(response: ServerResponse, status: number, why: string): void {
  const text = Buffer.from(`${status}: ${why}\n`)
  response.setHeader('Connection', 'close')
  head(response, status, 'text/plain; charset=utf-8', text.length, SITE_POLICY)
  response.end(response.req.method === 'HEAD' ? undefined : text)
}

function renderList(parts: readonly string[], names: readonly string[]): string {
  const title = `/${['reports', ...parts].join('/')}`
  const items = names.map((name) => {
    const href = `./${name.split('/').map(encodeURIComponent).join('/')}`
    return `<li><a href="${esc(href)}">${esc(name)}</a></li>`
  })
  const up = parts.length > 0 ? '<p><a href="../">Up</a></p>' : '<p><a href="/">The site</a></p>'
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    `<title>${esc(title)}</title><link rel="stylesheet" href="/site.css"></head>`,
    `<body><main><h1>${esc(title)}</h1>`,
    items.length > 0 ? `<ul>${items.join('')}</ul>` : '<p>There is nothing in this folder.</p>',
    up,
    '</main></body></html>',
    '',
  ].join('\n')
}
