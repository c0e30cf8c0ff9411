// Histories for properties that need no oracle: small random ones of every shape, and simulated
// ones of some size, mostly with a fault or in a store of a weak level.

import { Random } from '../../src/base/random.ts'
import type { History } from '../../src/history/history.ts'
import { CHAIN, type LevelId } from '../../src/levels/levels.ts'
import { type Generated, generate } from '../../src/pipeline/generate.ts'
import { FAULTS, type Fault } from '../../src/sim/faults.ts'
import type { WorkloadRequest } from '../../src/workload/parameters.ts'
import { buildHistory } from '../small/draft.ts'
import { randomHistory, shapeOf } from '../small/random-history.ts'

export function anyHistory(seed: number): History {
  const random = new Random(seed)
  if (random.chance(0.6)) {
    const lists = random.chance(0.3) ? { lists: random.pick([0.5, 1]) } : {}
    const broken = random.chance(0.2) ? { broken: 0.05, audits: 0.2 } : {}
    const shape = shapeOf(seed, { ...lists, ...broken })
    return buildHistory(randomHistory(seed, shape))
  }
  const fault = random.chance(0.6) ? random.pick(FAULTS) : null
  return simulated(seed, random.pick(CHAIN), fault).history
}

/** Up to a hundred transactions of a shape of the seed's own. */
export function simulated(
  seed: number,
  level: LevelId,
  fault: Fault | null,
): Generated & { shape: WorkloadRequest['shape'] } {
  const random = new Random(seed ^ 0x51a7)
  const shape = random.pick(['general', 'general', 'mini', 'append'] as const)
  const ops = shape === 'append' ? 2 + random.below(3) : 2 + random.below(6)
  const workload: WorkloadRequest = {
    shape,
    ...(shape === 'mini' ? {} : { ops }),
    sessions: 4 + random.below(5),
    transactions: 40 + random.below(60),
    keys: shape === 'append' ? 4 + random.below(4) : 6 + random.below(30),
    distribution: random.pick(['uniform', 'zipfian', 'hotspot', 'exponential'] as const),
  }
  const store = {
    level,
    aborts: random.chance(0.3) ? 0.1 : 0,
    indeterminates: random.chance(0.3) ? 0.1 : 0,
    conflicts: random.pick(['retry', 'abort'] as const),
    faults: fault ? [{ fault, count: 1 + random.below(3) }] : [],
  }
  const layout = random.pick(['commit', 'session', 'interleaved'] as const)
  return { ...generate({ seed, workload, store, layout }), shape }
}
