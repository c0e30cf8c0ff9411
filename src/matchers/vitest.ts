// `import 'isobar/vitest'` in a test or a set-up file: adds toSatisfy(level) to Vitest's expect.

import { expect } from 'vitest'
import type { LevelId } from '../index.ts'
import { type SatisfyOptions, toSatisfy } from './to-satisfy.ts'

expect.extend({ toSatisfy: toSatisfy as (received: unknown) => ReturnType<typeof toSatisfy> })

declare module 'vitest' {
  // Vitest's own toSatisfy, which takes a predicate, stays.
  // biome-ignore lint/suspicious/noExplicitAny: declared as Vitest declares it
  interface Assertion<T = any> {
    toSatisfy: {
      (level: LevelId, options?: SatisfyOptions): void
      <E>(matcher: (value: E) => boolean, message?: string): void
    }
  }
}

export { type HistoryLike, type SatisfyOptions, toSatisfy } from './to-satisfy.ts'
