// `import 'isobar/jest'` in a file of setupFilesAfterEnv: adds toSatisfy(level) to Jest's expect.
// Where globals are not injected, import { toSatisfy } and hand it to expect.extend.

import type { LevelId } from '../index.ts'
import { type SatisfyOptions, toSatisfy } from './to-satisfy.ts'

/** As much of Jest as is needed here. */
interface Extendable {
  extend(matchers: Record<string, unknown>): void
}

const { expect } = globalThis as { expect?: Extendable }
expect?.extend({ toSatisfy })

declare global {
  namespace jest {
    // biome-ignore lint/complexity/noBannedTypes: declared as Jest declares it
    interface Matchers<R, T = {}> {
      toSatisfy(level: LevelId, options?: SatisfyOptions): R
    }
  }
}

export { type HistoryLike, type SatisfyOptions, toSatisfy } from './to-satisfy.ts'
