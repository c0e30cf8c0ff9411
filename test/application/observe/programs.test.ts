import { describe } from 'vitest'
import { some } from '../../long.ts'
import { describePrograms } from '../recorded-programs.ts'
import { onServer, recording } from '../server.ts'

const stage = onServer(4)

describe('random programs that are recorded', () => {
  describePrograms({
    direct: () => stage.pool,
    recording: (work) => recording(stage.pool, () => work(stage.pool)),
    count: some(40),
  })
})
