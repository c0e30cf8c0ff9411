import { describe } from 'vitest'
import { some } from '../../long.ts'
import { describePrograms } from '../recorded-programs.ts'
import { onProxiedServer, throughProxy } from './stage.ts'

const stage = onProxiedServer()

describe('random programs through the proxy', () => {
  describePrograms({
    direct: () => stage.direct,
    recording: (work) => throughProxy(stage, work),
    count: some(12, 2),
  })
})
