import { describe, expect, it } from 'vitest'
import { makeFolder, put, runInProcess } from './command.ts'
import { runInThread } from './thread.ts'

const folder = makeFolder()
const lost = put(folder, 'lost.txt', 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)\n')

describe('a command in a thread', () => {
  it.each([
    ['check', lost, '--level', 'si'],
    ['check', lost, '--level', 'cc', '--quiet'],
    ['convert', lost, '-', '--to', 'native'],
    ['stats', lost],
    ['check', `${folder}/none.txt`],
    ['chek'],
    ['--help'],
    [],
  ])('prints and ends as in a process: %s %s %s %s', (...args) => {
    const timeless = ({ out, ...rest }: { out: string }) => ({
      ...rest,
      out: out.replace(/\d+(\.\d+)? m?s/g, 'some time'),
    })
    expect(timeless(runInThread(args))).toEqual(timeless(runInProcess(args)))
  })
})
