// Presets of `isobar run`: options that go well together, by a name. What is given on the command
// line takes precedence. Main function: withPreset.

import { UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'

/** The options that a preset may have. */
export interface PresetFlags {
  shape?: string
  workload?: string
  aim?: string
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
   * A few transactions stay open while others commit by the thousand. PostgreSQL then forgets who
   * read what; it shows where one of those others has read both keys of one that stays open, has
   * written the key that this one does not write, and nobody used the two again. So many keys that
   * at 2,000 to 10,000 commits a second about one of the others comes to each pair in 3 s: where
   * it is fewer than that the two are rarely met, where it is more the key itself is written.
   */
  'long-transactions': {
    about: 'a few transactions stay open beside thousands of short ones (docs/found.md)',
    flags: {
      aim: 'write-skew',
      keys: '30000',
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
  const { duration, aim, fault = [], ...rest } = preset.flags
  return {
    ...rest,
    ...((flags.workload ?? flags.shape) === undefined ? { aim } : {}),
    ...(flags.transactions === undefined ? { duration } : {}),
    ...flags,
    fault: flags.fault.length > 0 ? flags.fault : fault,
  }
}
