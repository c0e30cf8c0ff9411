import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'

const inRooms = (rooms: string[]) => rooms.map((room) => `test/${room}/**/*.test.ts`)

/** Where servers and browsers share a busy machine, a test may be tried again; the output says which. */
const SERVERS = inRooms(['live', 'record', 'application', 'web', 'fleet'])

/** What only computes: some of it may take long where all small histories are asked for. */
const PURE = inRooms(
  'base check formats fuzz graph history levels pipeline report sim small solver spill sql verdict workload'.split(
    ' ',
  ),
)

/** What puts a module in the place of another, which it must be the first to load, and what counts all that a process has open. */
const APART = ['test/cli/doctor-command.test.ts', 'test/record/silent-server.test.ts']

/** Once, though this file is read for every project. */
const told = globalThis as { isShortTold?: boolean }
if (process.env['ISOBAR_LONG'] !== '1' && !told.isShortTold) {
  process.stderr.write('SHORT: a part of the long tests is run; ISOBAR_LONG=1 runs all of them\n')
  told.isShortTold = true
}

export default defineConfig({
  test: {
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // All cores: by default one is left free, and on two cores that halves the pace.
    maxWorkers: '100%',
    // Files share a process, one after the other, and with it what was loaded and compiled.
    isolate: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'servers',
          include: SERVERS,
          exclude: [...configDefaults.exclude, ...APART],
          retry: Number(process.env['ISOBAR_RETRY'] ?? 0),
          // They wait for each other's processes much of the time: one more than there are cores.
          maxWorkers: availableParallelism() + 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'pure', include: PURE, testTimeout: 900_000 },
      },
      {
        extends: true,
        test: {
          name: 'own',
          include: ['test/**/*.test.ts', 'examples/*.test.mjs'],
          exclude: [...configDefaults.exclude, ...SERVERS, ...PURE, ...APART],
        },
      },
      { extends: true, test: { name: 'apart', include: APART, isolate: true } },
    ],
  },
})
