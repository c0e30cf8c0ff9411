// The target `sim:LEVEL+fault`: a simulated store of known level with known faults, such as
// `sim:si+lost-update+write-skew:10%`.

import { UsageError } from '../../base/errors.ts'
import { hintFor } from '../../base/slips.ts'
import { CHAIN, type LevelId } from '../../levels/levels.ts'
import { readLevel } from '../../levels/words.ts'
import { FAULTS, type Fault, findFault } from '../../sim/faults.ts'
import type { Target, TargetKind } from '../target.ts'
import { offeredLevels, SimDatabase } from './database.ts'

const FAULT_SHARE = 0.05

export const SIM_FAULTS: readonly string[] = FAULTS.filter((fault) => !fault.needsPlan).map(
  (fault) => fault.name,
)

export const SIM: TargetKind = {
  form: 'sim:LEVEL[+fault…]',
  about: 'a simulated store of known level and known faults',
  pattern: /^sim:/,
  driver: null,
  trial: null,
  parse: (text) => parseSim(text.slice('sim:'.length)),
}

export interface SimTarget extends Target {
  readonly level: LevelId
  readonly faults: readonly Fault[]
  readonly faultShare: number
}

function parseSim(text: string): SimTarget {
  const [first = '', ...rest] = text.split('+')
  const { level } = readLevel(first)
  if (!CHAIN.includes(level)) {
    throw new UsageError(`no simulated store at level "${first}"`, hintFor(first, CHAIN))
  }
  let faultShare = FAULT_SHARE
  const faults = rest.map((part) => {
    const [name = '', share] = part.split(':')
    if (share !== undefined) faultShare = parseShare(name, share)
    return liveFault(name)
  })
  return {
    ...{ level, faults, faultShare },
    product: 'a simulated store',
    levels: offeredLevels(level),
    usualLevel: level,
    undisturbed: `its own faults go into the target: sim:${level}+${SIM_FAULTS[0]}`,
    ownsServer: false,
    tidyMs: 0,
    open: async ({ sessions: sessionCount, seed }) => {
      const database = new SimDatabase({ level, faults, faultShare, sessionCount, seed })
      return { database, proxies: [], makers: {}, close: async () => {} }
    },
  }
}

function parseShare(name: string, text: string): number {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)
  const share = Number(percent?.[1]) / 100
  if (share > 0 && share <= 1) return share
  throw new UsageError(`bad share "${text}" of a fault`, `write it as ${name}:5%`)
}

/** A fault that a store can show which only answers. */
function liveFault(name: string): Fault {
  const fault = findFault(name)
  if (!fault.needsPlan) return fault
  const hint = `isobar generate --inject ${name} plans ahead`
  throw new UsageError(`a store that runs cannot show ${name}: ${fault.meaning}`, hint)
}
