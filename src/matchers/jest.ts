// `import 'isobar/jest'` in a file of setupFilesAfterEnv: adds toBeIsolated(level) to Jest's expect.
// Where globals are not injected, import { toBeIsolated } and hand it to expect.extend.

import type { LevelWord } from '../index.ts'
import { type IsolatedOptions, toBeIsolated } from './to-be-isolated.ts'

/** As much of Jest as is needed here. */
interface Extendable {
  extend(matchers: Record<string, unknown>): void
}

const { expect } = globalThis as { expect?: Extendable }
expect?.extend({ toBeIsolated })

declare global {
  namespace jest {
    // biome-ignore lint/complexity/noBannedTypes: declared as Jest declares it
    interface Matchers<R, T = {}> {
      /** Awaited: `await expect(history).toBeIsolated('si')`. */
      toBeIsolated(level: LevelWord, options?: IsolatedOptions): Promise<R>
    }
  }
}

export { type IsolatedOptions, type MatcherResult, toBeIsolated } from './to-be-isolated.ts'
