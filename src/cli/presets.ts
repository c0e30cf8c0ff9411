// Presets of `isobar run`: options that go well together, by a name. What is given on the command
// line takes precedence. Main function: withPreset.

import { UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'

/** The options that a preset may have. */
export interface PresetFlags {
  shape?: string
  workload?: string
  aim?: string
  distribution?: string
  reads?: string
  ops?: string
  keys?: string
  sessions?: string
  duration?: string
  transactions?: string
  fault: string[]
}

interface Preset {
  readonly about: string
  readonly flags: Partial<PresetFlags>
}

export const PRESETS: Readonly<Record<string, Preset>> = {
  /**
   * A few transactions stay open while others commit by the thousand, on keys so many that one
   * which was read early on is neither read nor written again until they go on.
   */
  'long-transactions': {
    about: 'a few transactions stay open beside thousands of short ones (docs/found.md)',
    flags: {
      shape: 'general',
      distribution: 'uniform',
      reads: '0.85',
      ops: '5',
      keys: '10000',
      sessions: '40',
      duration: '100s',
      fault: ['pause:10%:3s'],
    },
  },
}

/** The flags with those of the preset where nothing was given. Throws UsageError. */
export function withPreset<Flags extends PresetFlags>(
  flags: Flags,
  name: string | undefined,
): Flags {
  if (name === undefined) return flags
  const preset = Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined
  if (preset === undefined) {
    throw new UsageError(`unknown preset "${name}"`, hintFor(name, Object.keys(PRESETS)))
  }
  const { duration, shape, fault = [], ...rest } = preset.flags
  return {
    ...rest,
    ...((flags.workload ?? flags.aim) === undefined ? { shape } : {}),
    ...(flags.transactions === undefined ? { duration } : {}),
    ...flags,
    fault: flags.fault.length > 0 ? flags.fault : fault,
  }
}
