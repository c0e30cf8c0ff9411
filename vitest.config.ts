import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'examples/*.test.mjs'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // Where real servers share a busy machine, a test may be tried again; the output says which.
    retry: Number(process.env['ISOBAR_RETRY'] ?? 0),
    // All cores: by default one is left free, and on two cores that halves the pace.
    maxWorkers: '100%',
  },
})
