// `isobar serve` against those who want more than they are shown: paths and links that lead out of
// the folder, other names, other methods, too much of anything; and how it ends.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { request, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeServer } from '../../src/cli/site-server.ts'
import { isobar, makeFolder, put } from './command.ts'

const BIN = resolve(import.meta.dirname, '../../bin/isobar.js')
const TOKEN = 'sixteen characters'

const folder = makeFolder()
const site = join(folder, 'site')
const reports = join(folder, 'reports')
mkdirSync(join(reports, 'inner'), { recursive: true })
mkdirSync(join(reports, 'with-index'))
mkdirSync(join(reports, '<b>&'))
mkdirSync(site)
put(site, 'index.html', '<!doctype html><title>the site</title>')
put(reports, 'a report.html', 'report')
put(reports, 'empty.txt', '')
put(join(reports, 'with-index'), 'index.html', 'the index')
put(folder, 'secret', 'secret')
put(reports, '.env', 'secret')
symlinkSync(join(folder, 'secret'), join(reports, 'out'))
symlinkSync(folder, join(reports, 'inner', 'up'))
symlinkSync('../a report.html', join(reports, 'inner', 'in.html'))

const servers: Server[] = []

async function start(options: { host?: string; token?: string } = {}): Promise<number> {
  const { host = '127.0.0.1', token = null } = options
  const server = makeServer({ site, reports, host, token })
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return (server.address() as AddressInfo).port
}

let port = 0
beforeAll(async () => {
  port = await start()
})
afterAll(() => {
  for (const server of servers) server.close()
})

interface Reply {
  status: number
  body: string
  headers: Record<string, string | string[] | undefined>
}

function ask(
  path: string,
  options: { method?: string; headers?: Record<string, string>; port?: number } = {},
): Promise<Reply> {
  const { method = 'GET', headers = {}, port: at = port } = options
  return new Promise((done, fail) => {
    const sent = request({ host: '127.0.0.1', port: at, path, method, headers }, (response) => {
      let body = ''
      response.on('data', (chunk) => {
        body += chunk
      })
      response.on('end', () =>
        done({ status: response.statusCode!, body, headers: response.headers }),
      )
    })
    sent.on('error', fail)
    sent.end()
  })
}

/** The first line of what comes back for bytes as they are. */
async function askRaw(text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(text)
  let answer = ''
  for await (const chunk of socket) answer += chunk
  return answer.split('\r\n')[0]!
}

describe('the server', () => {
  it('shows the site and what the folder holds', async () => {
    const first = await ask('/')
    expect(first).toMatchObject({ status: 200, body: '<!doctype html><title>the site</title>' })
    expect(first.headers['content-security-policy']).toContain("default-src 'none'")
    expect(first.headers['x-content-type-options']).toBe('nosniff')
    expect(await ask('/reports/a%20report.html')).toMatchObject({ status: 200, body: 'report' })
    expect(await ask('/reports/empty.txt')).toMatchObject({ status: 200, body: '' })
    expect(await ask('/reports/with-index/')).toMatchObject({ status: 200, body: 'the index' })
    const moved = await ask('/reports/with-index')
    expect(moved).toMatchObject({ status: 302, headers: { location: '/reports/with-index/' } })
    const list = await ask('/reports/')
    expect(list.body).toContain('<a href="./a%20report.html">a report.html</a>')
    expect(list.body).toContain('<a href="./%3Cb%3E%26/">&lt;b&gt;&amp;/</a>')
    expect((await ask('/reports/%3Cb%3E%26/')).body).toContain('&lt;b&gt;&amp;')
    expect((await ask('/', { method: 'HEAD' })).headers['content-length']).toBe('38')
    expect((await ask('/nothing')).status).toBe(404)
  })

  it('keeps pages of the folder apart from the site', async () => {
    const { headers } = await ask('/reports/a%20report.html')
    expect(headers['content-security-policy']).toMatch(/^sandbox allow-scripts/)
  })

  it.each([
    '/../secret',
    '/reports/../../secret',
    '/reports/%2e%2e/%2e%2e/secret',
    '/reports/..%2f..%2fsecret',
    '/reports/..%5c..%5csecret',
    '/reports/%2e%2e%2fsecret',
    '/reports/a%00',
    '/reports/%zz',
    '/reports/out',
    '/reports/inner/up/secret',
    '/reports/inner/up/',
    '//reports/..//secret',
    '/reports/%252e%252e/secret',
    '/reports/.env',
    '/reports/%2eenv',
  ])('does not leave the folder by %s', async (path) => {
    const { status, body } = await ask(path)
    expect([400, 404]).toContain(status)
    expect(body).not.toContain('secret')
  })

  it('follows links that stay inside', async () => {
    expect(await ask('/reports/inner/in.html')).toMatchObject({ status: 200, body: 'report' })
  })

  it('leads nobody to another server', async () => {
    const { headers } = await ask('//reports/with-index')
    expect(headers['location'] ?? '/').not.toMatch(/^\/\//)
  })

  it('answers by its own names only', async () => {
    const by = async (host: string) => (await ask('/', { headers: { host } })).status
    for (const host of ['localhost', `localhost:${port}`, `127.0.0.1:${port}`, '[::1]:80']) {
      expect(await by(host), host).toBe(200)
    }
    for (const host of ['example.org', 'localhost.example.org', '127.0.0.1.example.org', '[::2]']) {
      expect(await by(host), host).toBe(421)
    }
    expect(await askRaw('GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n')).toContain('421')
    expect(await askRaw('GET / HTTP/1.1\r\nConnection: close\r\n\r\n')).toContain('400')
    expect(await askRaw('GET / HTTP/1.0\r\n\r\n')).toContain('421')
  })

  it('takes GET and HEAD without a body, of a modest size', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH']) {
      expect((await ask('/', { method })).status, method).toBe(405)
    }
    expect((await ask('/', { headers: { 'content-length': '5' } })).status).toBe(413)
    expect((await ask(`/${'x'.repeat(5000)}`)).status).toBe(414)
    expect((await ask('/', { headers: { much: 'x'.repeat(20_000) } })).status).toBe(431)
  })

  it('lets in who knows the token, and then by a cookie', async () => {
    const closed = await start({ host: '0.0.0.0', token: TOKEN })
    const there = { port: closed }
    expect((await ask('/', there)).status).toBe(401)
    expect((await ask('/?token=wrong', there)).status).toBe(401)
    expect((await ask('/', { ...there, headers: { cookie: 'isobar=00' } })).status).toBe(401)
    const came = await ask(`/?token=${encodeURIComponent(TOKEN)}`, there)
    expect(came).toMatchObject({ status: 302, headers: { location: '/' } })
    const [cookie] = String(came.headers['set-cookie']).split(';')
    expect(cookie).not.toContain(TOKEN)
    expect((await ask('/', { ...there, headers: { cookie: cookie! } })).status).toBe(200)
    const bearer = { authorization: `Bearer ${TOKEN}`, host: 'example.org' }
    expect((await ask('/reports/', { ...there, headers: bearer })).status).toBe(200)
  })
})

async function startCommand(...args: string[]): Promise<[ChildProcess, string]> {
  const child = spawn(process.execPath, [BIN, 'serve', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [first] = (await once(child.stdout!, 'data')) as [Buffer]
  return [child, /http:\S+/.exec(String(first))![0].replace(/,$/, '')]
}

describe('isobar serve', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('shows the built site until %s', async (signal, code) => {
    const [child, address] = await startCommand(reports, '--port', '0')
    const page = await fetch(address)
    expect(await page.text()).toContain('Check a history')
    expect(await (await fetch(`${address}reports/a%20report.html`)).text()).toBe('report')
    child.kill(signal)
    expect((await once(child, 'exit'))[0]).toBe(code)
  })

  it('says what is wrong with how it is called', async () => {
    const wrong = (...args: string[]) => {
      const { code, err } = isobar(['serve', ...args])
      expect(code).toBe(2)
      return err
    }
    expect(wrong('--host', '0.0.0.0')).toContain('--host 0.0.0.0 needs --token')
    expect(wrong('--token', 'short')).toContain('16 characters or more')
    expect(wrong('--port', 'x')).toContain('--port is a number up to 65535')
    expect(wrong('--port', '70000')).toContain('--port is a number up to 65535')
    writeFileSync(join(folder, 'file'), '')
    expect(wrong(join(folder, 'file'))).toContain('is no folder')
    expect(wrong('--port', String(port))).toContain(`port ${port} is taken`)
  })
})
