// `import 'isobar/vitest'` in a test or a set-up file: adds toBeIsolated(level) to Vitest's expect.

import { expect } from 'vitest'
import type { LevelWord } from '../index.ts'
import { type IsolatedOptions, toBeIsolated } from './to-be-isolated.ts'

expect.extend({ toBeIsolated })

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: declared as Vitest declares it
  interface Matchers<T = any> {
    /** Awaited: `await expect(history).toBeIsolated('si')`. */
    toBeIsolated(level: LevelWord, options?: IsolatedOptions): Promise<void>
  }
}

export { type IsolatedOptions, type MatcherResult, toBeIsolated } from './to-be-isolated.ts'
