import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { isobar, makeFolder, put } from './command.ts'

const folder = makeFolder()
const STALE = 's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(y,2) r(x,1)\n'
const SOUND = 's0: w(x,1)\ns1: r(x,1) w(x,2) w(y,2)\ns2: r(y,2) r(x,2)\n'
const stale = put(folder, 'stale.txt', STALE)
const sound = put(folder, 'sound.txt', SOUND)

describe('isobar check', () => {
  it('gives the profile without a level, and ends with 0 whatever it finds', () => {
    const { code, out } = isobar(['check', stale])
    expect(code).toBe(0)
    expect(out).toContain('rc    violated')
    expect(out).toContain('weakest violated: rc (Read Committed)')
    expect(out).toContain('T3 first read y=2 from T2, which writes x too, and yet read x=1 from T1')
    expect(out).toContain('s2: r(y,2) r(x,1) [id=T3]')
  })

  it('ends with 1 if an asked level is violated, with 0 if all are satisfied', () => {
    expect(isobar(['check', stale, '--level', 'ci']).code).toBe(0)
    expect(isobar(['check', stale, '--level', 'ci,rc']).code).toBe(1)
    expect(isobar(['check', sound, '--level', 'ci,rc,ra,cc']).code).toBe(0)
  })

  it('decides strong levels by the algorithm asked for', () => {
    for (const algorithm of ['auto', 'solve', 'search']) {
      expect(isobar(['check', stale, '--level', 'ser', '--algorithm', algorithm]).code).toBe(1)
      expect(isobar(['check', sound, '--level', 'ser', '--algorithm', algorithm]).code).toBe(0)
    }
    const { code, err } = isobar(['check', sound, '--algorithm', 'guess'])
    expect(code).toBe(2)
    expect(err).toContain('there are auto, solve, search')
  })

  it('judges any level with the orders asked for', () => {
    const times = 'initial 0\ns1: w(x,1) [start=0 finish=1]\ns2: r(x,0) [start=2 finish=3]\n'
    const path = put(folder, 'times.txt', times)
    const ask = (level: string, order: string) =>
      isobar(['check', path, '--level', level, '--order', order])
    for (const order of ['none', 'session']) expect(ask('cc', order).code).toBe(0)
    for (const order of ['real-time', 'session,real-time']) {
      const { code, out } = ask('cc', order)
      expect([code, out]).toEqual([1, expect.stringContaining('StaleRead')])
      expect(out).toContain('with real time')
    }
    expect(ask('serializable', 'real-time').code).toBe(1)
    expect(ask('pl-2', 'session').out).toContain('strong-session-pl-2')
    expect(ask('pl-2+', 'session').err).toContain('knows neither session order nor real time')
    expect(ask('cc', 'reel-time').err).toContain('did you mean real-time?')
    const file = put(
      folder,
      'verdict.json',
      isobar(['check', path, '--order', 'real-time', '--json']).out,
    )
    expect(isobar(['verify', path, file]).out).toContain('with real time')
    for (const [order, sessions] of [
      ['session', 'off'],
      ['none', 'on'],
    ] as const) {
      const both = ['check', path, '--order', order, '--session-order', sessions]
      expect(isobar(both).err).toContain('both say whether session order counts')
    }
  })

  it('prints no colours into a pipe', () => {
    expect(isobar(['check', stale]).out).not.toContain('\u001b[')
  })

  it('reads standard input and compressed files', () => {
    expect(isobar(['check', '-', '--level', 'rc'], STALE).code).toBe(1)
    const zipped = put(folder, 'stale.txt.gz', gzipSync(STALE))
    expect(isobar(['check', zipped, '--level', 'rc']).code).toBe(1)
  })

  it('takes nothing for a pass, unless that is meant', () => {
    const empty = put(folder, 'empty.txt', '')
    const nothing = join(folder, 'nothing')
    mkdirSync(nothing)
    const pictures = join(folder, 'pictures')
    mkdirSync(pictures)
    put(pictures, 'a.svg', '<svg/>')
    for (const path of [empty, nothing, pictures, '-']) {
      const { code, err, out } = isobar(['check', path, '--level', 'rc'], '')
      expect([path, code, err]).toEqual([path, 2, expect.stringContaining('nothing was checked')])
      expect(out).not.toContain('satisfied')
      expect(isobar(['check', path, '--level', 'rc', '--allow-empty'], '').code, path).toBe(0)
    }
    const { out } = isobar(['check', empty, '--level', 'rc', '--allow-empty'])
    expect(out).toContain('the history is empty')
  })

  it('takes a path behind --elle for a path', () => {
    const { out } = isobar(['check', '--elle', stale, '--level', 'serializable'])
    expect(out).toBe(isobar(['check', stale, '--elle', 'edn', '--level', 'serializable']).out)
    expect(out).toContain(':valid? false')
  })

  it.each([['--elle'], ['--tap', 'a,b']])(
    'refuses reads that do not name their writer: %s',
    (...of) => {
      const open = put(folder, 'open.txt', 's1: inc(x,1)\ns2: inc(x,1)\ns3: r(x,1)\n')
      const { code, err } = isobar(['check', open, ...of])
      expect([code, err]).toEqual([2, expect.stringContaining('several possible writers')])
      const told = put(folder, 'told.txt', 's1: inc(x,1)\ns2: inc(x,2)\ns3: r(x,1)\n')
      expect([0, 3]).toContain(isobar(['check', told, ...of]).code) // 3: there are no times
    },
  )

  it('says what may have been meant', () => {
    for (const [option, word, meant] of [
      ['--level', 'serialisable', 'serializable'],
      ['--level', 'snapshot-isolatoin', 'snapshot-isolation'],
      ['--format', 'plum', 'plume'],
      ['--algorithm', 'serch', 'search'],
    ] as const) {
      const { code, err } = isobar(['check', stale, option, word])
      expect([code, err]).toEqual([2, expect.stringContaining(`did you mean ${meant}?`)])
    }
  })

  it('helps those who ask for it, and tells its version by either name', () => {
    for (const args of [['help'], ['help', 'check'], ['--help'], ['check', '-h'], ['-V']]) {
      expect(isobar(args), args.join(' ')).toMatchObject({ code: 0, err: '' })
    }
    expect(isobar(['-V']).out).toBe(isobar(['--version']).out)
    expect(isobar([]).code).toBe(2)
  })

  it('prints what a verdict speaks of in notation that it reads again', () => {
    const { out } = isobar(['check', stale, '--level', 'rc', '--notation'])
    expect(isobar(['check', '-', '--level', 'rc'], out).code).toBe(1)
  })

  it('judges chosen patterns', () => {
    const { code, out } = isobar(['check', stale, '--tap', 'h,j'])
    expect(code).toBe(1)
    expect(out).toContain('h NonMonoReadCO: occurs, 1 read')
    expect(out).toContain('j NonRepeatableRead: does not occur')
    const plume = JSON.parse(
      isobar(['check', stale, '--tap', 'h,m,n', '--tap-rule', 'plume', '--json']).out,
    )
    expect(plume.rule).toBe('plume')
    expect(plume.taps.map(({ verdict }: { verdict: string }) => verdict)).toEqual(
      new Array(3).fill('violated'),
    )
    expect(isobar(['check', stale, '--tap', 'h', '--tap-rule', 'best']).code).toBe(2)
    expect(isobar(['check', stale, '--tap-rule', 'plume']).code).toBe(2)
    expect(isobar(['check', stale, '--tap', 'j']).code).toBe(0)
  })

  it('lists every occurrence on demand, one example of each kind otherwise', () => {
    const twice = put(folder, 'twice.txt', 's1: r(x,7) r(x,8)\n')
    const count = (flags: string[]) => {
      const { out } = isobar(['check', twice, '--level', 'rc', '--json', ...flags])
      return JSON.parse(out).results[0].anomalies
    }
    expect(count([])).toMatchObject([{ name: 'ThinAirRead', count: 2 }])
    expect(count(['--all'])).toMatchObject([{ count: 1 }, { count: 1 }])
  })

  it('answers unknown when the budget is used up', () => {
    const { code, out } = isobar(['check', sound, '--level', 'rc', '--budget', '0ms'])
    expect(code).toBe(3)
    expect(out).toContain('unknown')
  })

  it('answers unknown when reading alone takes the budget', () => {
    const large = put(folder, 'large.txt', 'r(1,0,0,0)\n'.repeat(400_000))
    const { code, out, err } = isobar([
      'check',
      large,
      '--level',
      'si',
      '--budget',
      '1ms',
      '--json',
    ])
    expect(code).toBe(3)
    expect(JSON.parse(out).error.code).toBe('out-of-budget')
    expect(err).toMatch(/the time budget of 1 ms ran out; \d MB of the history were read/)
  })
})

describe('isobar check --json', () => {
  it('describes the history, every level, and the evidence', () => {
    const { code, out } = isobar(['check', stale, '--level', 'rc', '--json'])
    expect(code).toBe(1)
    expect(out.trim().split('\n')).toHaveLength(1)
    const { results, ...rest } = JSON.parse(out)
    expect(rest).toMatchObject({
      isobar: 2,
      format: 'notation',
      history: { sessions: 3, transactions: 3, committed: 3, operations: 6, keys: 2 },
      strongest: [],
      weakestViolated: ['rc'],
    })
    const [result] = results
    expect(result).toMatchObject({
      level: 'rc',
      verdict: 'violated',
      certificate: { kind: 'cycle', verified: true },
    })
    const [anomaly] = result.anomalies
    expect(anomaly).toMatchObject({ name: 'NonMonotonicRead', tap: 'h', count: 1 })
    expect(anomaly.edges.map((edge: { kind: string }) => edge.kind)).toEqual(['WR', 'CO'])
    expect(anomaly.edges[1].premises).toHaveLength(2)
    expect(anomaly.core).toHaveLength(3)
  })

  it('is the same byte for byte, but for the times', () => {
    const once = () => isobar(['check', stale, '--json']).out.replace(/:\d+\.?\d*(?=[,}])/g, ':0')
    expect(once()).toBe(once())
  })

  it('keeps integers beyond 2^53 exact', () => {
    const big = put(folder, 'big.txt', 's1: w(9007199254740993,18446744073709551615)\ns2: r(x,7)\n')
    const { out } = isobar(['check', big, '--level', 'rc', '--all', '--json'])
    expect(JSON.parse(out).results[0].verdict).toBe('violated')
    const seen = put(
      folder,
      'seen.txt',
      's1: w(k,9007199254740993) w(k,5)\ns2: r(k,9007199254740993)\n',
    )
    expect(isobar(['check', seen, '--level', 'rc', '--json']).out).toContain(
      '["r","k",9007199254740993]',
    )
  })

  it('goes on after a bad file and names it', () => {
    const bad = put(folder, 'bad.txt', 's1: q(x,1)\n')
    const { code, out, err } = isobar(['check', bad, stale, '--level', 'rc', '--json'])
    expect(code).toBe(2)
    const [first, second] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(first.error).toMatchObject({ code: 'bad-notation', line: 1, column: 5 })
    expect(second.results[0].verdict).toBe('violated')
    expect(err).toContain('bad.txt:1:5: unknown operation')
  })
})

describe('isobar check on directories', () => {
  const runs = join(folder, 'runs')
  mkdirSync(join(runs, 'deep'), { recursive: true })
  put(join(runs, 'deep'), 'a.txt', STALE)
  put(runs, 'b.txt', SOUND)
  put(runs, 'readme.md', '# not a history\n')
  symlinkSync(runs, join(runs, 'deep', 'circle'))

  it('judges every file below, skips what is none, and sums up', () => {
    const { code, out } = isobar(['check', runs, '--level', 'rc'])
    expect(code).toBe(1)
    expect(out).toContain('2 histories checked, 0 unreadable')
    expect(out).toContain('rc    1 satisfied, 1 violated, 0 unknown')
    expect(out).toContain('NonMonotonicRead: 1 history')
    expect(out).toContain('skipped, in no known format')
  })

  it('sums up in JSON too', () => {
    const lines = isobar(['check', runs, '--level', 'rc', '--json']).out.trim().split('\n')
    const { summary } = JSON.parse(lines[lines.length - 1]!)
    expect(summary).toMatchObject({ histories: 2, levels: { rc: { satisfied: 1, violated: 1 } } })
  })
})

describe('isobar, called wrongly', () => {
  it.each([
    [['check'], 'which history?'],
    [['check', '--levle', 'rc', 'x'], 'Did you mean --level?'],
    [['check', stale, '--level', 'xx'], 'there are ci, rc'],
    [['check', stale, '--format', 'xx'], 'there are native'],
    [['check', stale, '--tap', 'z'], 'there are a to n'],
    [['check', stale, '--budget', 'soon'], 'is not a duration'],
    [['check', stale, '--memory', 'much'], 'is not a size'],
    [['check', join(folder, 'nowhere.txt')], 'there is no such file'],
    [['chek'], 'unknown command'],
  ])('%j ends with 2 and says why', (args, message) => {
    const { code, err } = isobar(args as string[])
    expect(code).toBe(2)
    expect(err).toContain(message)
  })

  it('helps with every command', () => {
    for (const command of ['check', 'stats', 'verify', 'generate']) {
      const { code, out } = isobar([command, '--help'])
      expect(code).toBe(0)
      expect(out).toContain('Example')
    }
    expect(isobar(['--version']).out.trim()).toMatch(/^\d+\.\d+\.\d+$/)
  })

  it('ends quietly when nobody reads on', () => {
    const bin = resolve(import.meta.dirname, '../../bin/isobar.js')
    const line = `${process.execPath} ${bin} check ${stale} --all --json | head -c 1`
    const { stderr } = spawnSync('sh', ['-c', line], { encoding: 'utf8' })
    expect(stderr).toBe('')
  })
})

describe('isobar verify', () => {
  const certificate = join(folder, 'certificate.json')

  it('confirms certificates of both verdicts', () => {
    for (const path of [stale, sound]) {
      isobar(['check', path, '--level', 'ci,rc,ra,cc', '--certificate', certificate, '--force'])
      const { code, out } = isobar(['verify', path, certificate])
      expect(code).toBe(0)
      expect(out.match(/: verified/g)).toHaveLength(4)
    }
  })

  it('reads what --json prints, which is what --certificate writes', () => {
    const flags = ['--level', 'ci,rc,ra,cc', '--json', '--certificate', certificate, '--force']
    for (const path of [stale, sound]) {
      const { out } = isobar(['check', path, ...flags])
      expect(readFileSync(certificate, 'utf8')).toBe(out)
      expect(isobar(['verify', path, put(folder, 'printed.json', out)]).code).toBe(0)
    }
    const several = put(folder, 'several.jsonl', isobar(['check', sound, stale, '--json']).out)
    const { code, err } = isobar(['verify', stale, several])
    expect([code, err]).toEqual([2, expect.stringContaining('choose one: --line 1, 2')])
    expect(isobar(['verify', stale, several, '--line', '2']).code).toBe(0)
  })

  it('refutes words that the evidence does not bear out', () => {
    isobar(['check', stale, '--level', 'rc', '--certificate', certificate, '--force'])
    const text = readFileSync(certificate, 'utf8')
    const { because } = JSON.parse(text).results[0].anomalies[0].edges[0]
    const told = put(folder, 'told.json', text.replace(because, 'T3 saw nothing'))
    const { code, out } = isobar(['verify', stale, told])
    expect([code, out]).toEqual([
      1,
      expect.stringContaining('edges[0].because says what is not so'),
    ])
  })

  it('says what to do with certificates of version 1', () => {
    const old = '{"isobarCertificate":1,"history":{},"results":[]}'
    const { code, err } = isobar(['verify', sound, put(folder, 'old.json', old)])
    expect(code).toBe(2)
    expect(err).toContain('a certificate of an earlier isobar')
    expect(err).toContain('hint: make it anew: isobar check HISTORY --certificate FILE')
  })

  it('refutes a certificate that was tampered with', () => {
    isobar(['check', sound, '--level', 'rc', '--certificate', certificate, '--force'])
    const text = readFileSync(certificate, 'utf8').replace('"order":[0,1,2]', '"order":[2,1,0]')
    const { code, out } = isobar(['verify', sound, put(folder, 'false.json', text)])
    expect(code).toBe(1)
    expect(out).toContain('REFUTED')
  })

  it('says all that it verified: level, verdict, session order, anomalies', () => {
    isobar(['check', stale, '--level', 'ra,ci', '--certificate', certificate, '--force'])
    const { out } = isobar(['verify', stale, certificate])
    expect(out).toContain('ra: violated by NonMonotonicRead (Read Atomic, with session order)')
    expect(out).toContain('ci: satisfied (Cut Isolation, which knows no session order)')
    isobar(['check', sound, '--level', 'ra', '--certificate', certificate, '--force'])
    const text = readFileSync(certificate, 'utf8')
    const changed = text.replace('"level":"ra"', '"level":"ra","sessionOrder":false')
    const told = isobar(['verify', sound, put(folder, 'changed.json', changed)])
    expect(told.out).toContain('ra: satisfied (Read Atomic, without session order): verified')
  })

  it('does not pass what holds no verdict, or an unknown one', () => {
    isobar(['check', sound, '--level', 'sser', '--certificate', certificate, '--force'])
    const { code, out } = isobar(['verify', sound, certificate])
    expect([code, out]).toEqual([3, expect.stringContaining('nothing to verify')])
    const text = readFileSync(certificate, 'utf8').replace(
      /"results":\[.*\],"strongest"/s,
      '"results":[],"strongest"',
    )
    const empty = isobar(['verify', sound, put(folder, 'empty.json', text)])
    expect([empty.code, empty.err]).toEqual([2, expect.stringContaining('holds no verdict')])
  })

  it('refuses what is not a certificate of this history', () => {
    const other = put(folder, 'other.txt', 's1: w(x,1)\n')
    isobar(['check', sound, '--level', 'rc', '--certificate', certificate, '--force'])
    expect(isobar(['verify', other, certificate]).err).toContain('it is for another history')
    expect(isobar(['verify', sound, sound]).err).toContain('this is not JSON')
  })
})

describe('isobar check --strength', () => {
  it('tells what a verdict is worth, to people', () => {
    const { out } = isobar(['check', sound, '--level', 'rc', '--strength'])
    expect(out).toContain('How strong the test was:')
    expect(isobar(['check', sound, '--strength', '--json']).code).toBe(2)
  })

  it('counts by keys and times, whoever wrote what was read', () => {
    const text = (last: number) =>
      `s1: w(x,1) [0,1] | r(y,0) w(x,2) [2,5]\ns2: r(x,2) r(y,0) [3,6]\ns3: w(x,${last}) w(y,1) [0,9]\n`
    const strengthOf = (last: number, ...more: string[]) => {
      const file = put(folder, `strength-${last}.txt`, text(last))
      const { out } = isobar(['check', file, '--level', 'rc', '--strength', ...more])
      return out.slice(out.indexOf('How strong'))
    }
    const unique = strengthOf(3)
    expect(unique).toMatch(/[1-9]\d* of [1-9]\d* reads/)
    expect(strengthOf(2, '--duplicate-values')).toBe(unique)
  })
})

describe('isobar stats', () => {
  it('describes a history', () => {
    const { out } = isobar(['stats', sound])
    expect(out).toContain('3 (3 committed, 0 aborted, 0 indeterminate)')
    expect(JSON.parse(isobar(['stats', sound, '--json']).out)).toMatchObject({ shape: 'general' })
  })

  it('counts range reads and operations of counters as they were told', () => {
    const text =
      's1: inc(x,1) inc(x,2) | w(5,1)\ns2: inc(x,4) range(1,9,[5:1])\ns3: r(x,7) r(x,7)\n'
    const spans = put(folder, 'spans.txt', text)
    expect(isobar(['check', spans]).out).toContain('4 transactions, 7 operations, 2 keys')
    expect(JSON.parse(isobar(['stats', spans, '--json']).out)).toMatchObject({
      ...{ operations: 7, keys: 2, reads: 3, writes: 4 },
      opsPerTxn: { min: 1, median: 2, max: 2 },
      hotKeys: [
        { key: 'x', count: 5 },
        { key: 'k5', count: 1 },
      ],
    })
    const verdict = put(folder, 'spans.json', isobar(['check', spans, '--json']).out)
    expect(isobar(['verify', spans, verdict]).code).toBe(0)
  })
})
