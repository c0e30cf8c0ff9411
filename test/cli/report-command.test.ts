import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { quoteCommand } from '../../src/cli/command-line.ts'
import { useTerminal } from './terminal.ts'

const LOST_UPDATE = 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)\n'
const terminal = useTerminal()

function put(name: string, text: string): string {
  writeFileSync(terminal.path(name), text)
  return terminal.path(name)
}
const read = (name: string) => readFileSync(terminal.path(name), 'utf8')

describe('isobar check', () => {
  it('writes report, pictures and files for CI beside the verdict', async () => {
    const history = put('lost.txt', LOST_UPDATE)
    const files = { report: 'r.html', svg: 'c.svg', dot: 'c.dot', junit: 'j.xml', summary: 's.md' }
    const options = Object.entries(files).flatMap(([name, file]) => [
      `--${name}`,
      terminal.path(file),
    ])
    expect(await terminal.run('check', history, '--level', 'si,pc', ...options)).toBe(1)
    expect(terminal.output).toContain('LostUpdate')
    expect(read('r.html')).toContain('Snapshot Isolation: violated')
    expect(read('r.html')).toContain(`isobar check ${history} --level si,pc`)
    expect(read('r.html').length).toBeLessThan(200_000)
    expect(read('c.svg')).toContain('<svg xmlns="http://www.w3.org/2000/svg"')
    expect(read('c.dot')).toContain('t1 -> t2')
    expect(read('j.xml')).toContain('tests="2" failures="1" errors="0"')
    expect(read('s.md')).toContain('```mermaid')
    for (const [name, file] of Object.entries(files)) {
      expect(terminal.output).toContain(`${name.padEnd(8)} ${terminal.path(file)}\n`)
    }
  })

  it('sums up many histories for CI, bad ones too, and draws only one', async () => {
    const good = put('good.txt', 's1: w(x,1)\n')
    const bad = put('bad.txt', 's1: q(x,1)\n')
    const lost = put('lost.txt', LOST_UPDATE)
    const junit = terminal.path('j.xml')
    expect(await terminal.run('check', good, bad, lost, '--level', 'si', '--junit', junit)).toBe(2)
    expect(read('j.xml')).toContain('tests="3" failures="1" errors="1"')
    expect(read('j.xml')).toContain('bad.txt:1:5: unknown operation')
    expect(await terminal.run('check', good, lost, '--svg', terminal.path('c.svg'))).toBe(2)
    expect(terminal.errors).toContain('--svg goes with exactly one history')
    expect(existsSync(terminal.path('c.svg'))).toBe(false)
    expect(await terminal.run('check', lost, '--tap', 'j', '--svg', terminal.path('c.svg'))).toBe(2)
  })
})

describe('isobar check of several histories', () => {
  it('makes one report with an index, and a table', async () => {
    const files = [put('good.txt', 's1: w(x,1)\n'), put('bad.txt', 's1: q(x,1)\n')]
    files.push(put('l&st update.txt', LOST_UPDATE))
    const options = ['--level', 'si', '--report', terminal.path('all.html')]
    options.push('--csv', terminal.path('all.csv'))
    expect(await terminal.run('check', ...files, ...options)).toBe(2)
    expect(terminal.output).toContain(`report   ${terminal.path('all.html')}\n`)
    expect(terminal.output).toContain(`csv      ${terminal.path('all.csv')}\n`)
    const index = read('all.html')
    expect(index).toContain('2 histories, 1 with a violation, 1 could not be read')
    expect(index).toContain('bad.txt:1:5: unknown operation')
    expect(index).not.toContain('<script')
    const links = [...index.matchAll(/<a href="([^"]+)">/g)].map((match) => match[1]!)
    expect(links).toEqual(['all-pages/1-good.txt.html', 'all-pages/2-l_st_update.txt.html'])
    expect(read(links[1]!)).toContain('LostUpdate')
    expect(read(links[0]!)).not.toContain('LostUpdate')
    expect(read('all.csv')).toContain(',violated,LostUpdate,1,')
    expect(read('all.csv')).toContain(',unread,')
    expect(await terminal.run('check', ...files, ...options)).toBe(2)
    expect(terminal.errors).toContain('exists already')
    expect(await terminal.run('check', files[0]!, files[2]!, ...options, '--force')).toBe(1)
    expect(read('all.html')).toContain('2 histories, 1 with a violation<')
  })

  it('keeps a directory that holds other things', async () => {
    const files = [put('a.txt', 's1: w(x,1)\n'), put('b.txt', LOST_UPDATE)]
    mkdirSync(terminal.path('all-pages'))
    put('all-pages/mine.txt', 'precious')
    const report = ['--report', terminal.path('all.html'), '--force']
    expect(await terminal.run('check', ...files, ...report)).toBe(2)
    expect(terminal.errors).toContain('it also holds mine.txt')
    expect(await terminal.run('check', ...files, '--report', '-')).toBe(2)
    expect(terminal.errors).toContain('the report needs a name')
  })
})

describe('isobar report', () => {
  async function verdictOf(text: string): Promise<string> {
    const history = put('history.txt', text)
    await terminal.run('check', history, '--json')
    return put('verdict.json', terminal.output)
  }

  it('writes the page beside the verdict, and anything else by its name', async () => {
    const verdict = await verdictOf(LOST_UPDATE)
    expect(await terminal.run('report', verdict)).toBe(0)
    expect(terminal.output).toContain('verdict.html')
    expect(read('verdict.html')).toContain('LostUpdate')
    for (const file of ['c.svg', 'c.dot', 'j.xml', 's.md']) {
      expect(await terminal.run('report', verdict, terminal.path(file))).toBe(0)
      expect(read(file)).toContain('LostUpdate')
    }
  })

  it('takes single transactions from the history, and traces it', async () => {
    const verdict = await verdictOf(LOST_UPDATE)
    const page = terminal.path('detail.html')
    const history = put('again.txt', LOST_UPDATE)
    const options = ['--history', history, '--trace', terminal.path('t.json')]
    expect(await terminal.run('report', verdict, page, ...options)).toBe(0)
    expect(read('detail.html')).toContain('"detail":{"row":[0,1]')
    const { traceEvents } = JSON.parse(read('t.json'))
    expect(traceEvents).toContainEqual(expect.objectContaining({ ph: 'i', name: 'LostUpdate' }))
    const other = put('other.txt', 's1: w(x,1)\n')
    expect(await terminal.run('report', verdict, page, '--history', other, '--force')).toBe(2)
    expect(terminal.errors).toContain('it is for another history')
    expect(await terminal.run('report', verdict, page, '--trace', terminal.path('u.json'))).toBe(2)
    expect(terminal.errors).toContain('--trace needs the history')
    expect(await terminal.run('check', history, '--trace', terminal.path('c.json'))).toBe(0)
    expect(read('c.json')).toBe(read('t.json').replaceAll('history.txt', 'again.txt'))
  })

  it('draws the anomaly that is asked for', async () => {
    const verdict = await verdictOf('s1: w(y,1) [aborted]\ns2: w(z,1) w(z,2)\ns3: r(y,1) r(z,1)\n')
    const svg = terminal.path('c.svg')
    expect(await terminal.run('report', verdict, svg, '--anomaly', 'abortedread')).toBe(0)
    expect(read('c.svg')).toContain('AbortedRead')
    expect(await terminal.run('report', verdict, svg, '--anomaly', '2', '--force')).toBe(0)
    expect(read('c.svg')).not.toContain('AbortedRead')
    expect(await terminal.run('report', verdict, svg, '--anomaly', 'Abortedred', '--force')).toBe(2)
    expect(terminal.errors).toContain('did you mean AbortedRead?')
    expect(await terminal.run('report', verdict, svg, '--anomaly', 'G0', '--force')).toBe(2)
    expect(terminal.errors).toContain('1 AbortedRead, 2 IntermediateRead')
  })

  it('makes an index of several, or asks which one', async () => {
    const one = readFileSync(await verdictOf(LOST_UPDATE), 'utf8')
    const many = put('many.json', one + one)
    const svg = terminal.path('c.svg')
    expect(await terminal.run('report', many, svg)).toBe(2)
    expect(terminal.errors).toContain('--line 1, 2')
    expect(await terminal.run('report', many)).toBe(0)
    expect(read('many.html').match(/<a href="many-pages/g)).toHaveLength(2)
    expect(await terminal.run('report', many, terminal.path('t.csv'))).toBe(0)
    expect(read('t.csv')).toContain('LostUpdate')
    expect(await terminal.run('report', many, terminal.path('r.html'), '--line', '2')).toBe(0)
    expect(await terminal.run('report', many, terminal.path('j.xml'))).toBe(0)
    expect(read('j.xml').match(/<testsuite /g)).toHaveLength(2)
  })

  it('turns away damaged and foreign files, and names them', async () => {
    const verdict = await verdictOf(LOST_UPDATE)
    const text = readFileSync(verdict, 'utf8')
    const torn = put('torn.json', text.slice(0, 500))
    expect(await terminal.run('report', torn)).toBe(2)
    expect(terminal.errors).toContain('torn.json:1:1: this is not JSON, or it is cut short')
    const foreign = put('foreign.json', '{"name":"isobar"}')
    expect(await terminal.run('report', foreign)).toBe(2)
    expect(terminal.errors).toContain('not a verdict of isobar')
    const wrong = put('wrong.json', text.replace('"core":[', '"core":[],"more":['))
    expect(await terminal.run('report', wrong)).toBe(2)
    expect(terminal.errors).toMatch(/damaged verdict: transaction T\d is not in the core/)
    expect(await terminal.run('report', terminal.path('none.json'))).toBe(2)
    expect(terminal.errors).toContain('none.json: there is no such file')
    expect(await terminal.run('report', verdict, terminal.path('r.pdf'))).toBe(2)
    expect(existsSync(terminal.path('wrong.html'))).toBe(false)
  })
})

describe('quoteCommand', () => {
  it('quotes for a shell and takes secrets out', () => {
    expect(quoteCommand(['isobar', 'check', "it's a file.txt"])).toBe(
      "isobar check 'it'\\''s a file.txt'",
    )
    expect(quoteCommand(['run', 'postgres://me:s3:cr@et@db.example/test?password=x&a=1'])).toBe(
      "run 'postgres://me:***@db.example/test?password=***&a=1'",
    )
    expect(quoteCommand(['a\u001b[31m\u202eb'])).toBe("$'a\\u001b[31m\\u202eb'")
    expect(quoteCommand(['postgres://me@db/test'])).toBe('postgres://me@db/test')
  })
})
