import { configDefaults, defineConfig } from 'vitest/config'

/** Where servers and browsers share a busy machine, a test may be tried again; the output says which. */
const SERVERS = ['live', 'record', 'application', 'web', 'fleet'].map(
  (room) => `test/${room}/**/*.test.ts`,
)

export default defineConfig({
  test: {
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // All cores: by default one is left free, and on two cores that halves the pace.
    maxWorkers: '100%',
    projects: [
      {
        extends: true,
        test: {
          name: 'servers',
          include: SERVERS,
          retry: Number(process.env['ISOBAR_RETRY'] ?? 0),
        },
      },
      {
        extends: true,
        test: {
          name: 'own',
          include: ['test/**/*.test.ts', 'examples/*.test.mjs'],
          exclude: [...configDefaults.exclude, ...SERVERS],
        },
      },
    ],
  },
})
