import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Deadline } from '../../src/base/deadline.ts'
import { writeIndex } from '../../src/cli/render-report.ts'
import { Outputs } from '../../src/files/output.ts'
import { judge } from '../report/gallery.ts'
import { makeFolder } from './command.ts'

const folder = makeFolder()

describe('writeIndex', () => {
  it('keeps each page within what its history has left of the budget', async () => {
    const notation = 's1: r(x,7)\ns2: w(y,1) [aborted]\ns3: r(y,1)\ns4: r(z,1) w(z,1)\n'
    const [late, timely] = [new Deadline(0), new Deadline(60_000)].map((deadline) => ({
      verdict: judge(notation, 'rc'),
      resume: deadline.putAside(),
    }))
    const outputs = new Outputs()
    const index = outputs.claim(join(folder, 'all.html'), '--report')
    const pages = outputs.claimDirectory(join(folder, 'all-pages'), '--report', /\.html$/)
    await writeIndex(index, pages, [late!, timely!])
    const findings = readdirSync(join(folder, 'all-pages'))
      .sort()
      .map((name) => readFileSync(join(folder, 'all-pages', name), 'utf8'))
      .map((page) => page.match(/<details class="finding"/g)?.length)
    expect(findings).toEqual([1, 3])
  })
})
