// Durations and sizes as people write them. Main functions: parseDuration, parseSize.

import { UsageError } from './errors.ts'

const MAX_DURATION_MS = 500 * 3_600_000 // timers do not hold much more

/** `60s`, `500ms`, `2m`, `1h` or plain seconds → milliseconds. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim())
  if (!match)
    throw new UsageError(`${JSON.stringify(text)} is not a duration`, 'e.g. 500ms, 60s, 2m')
  const unit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[match[2] ?? 's'] ?? 1000
  const ms = Number(match[1]) * unit
  if (ms <= MAX_DURATION_MS) return ms
  throw new UsageError(`${JSON.stringify(text)} is too long`, 'at most 500h')
}

/** `8g`, `512m`, `100k` or plain bytes → bytes. */
export function parseSize(text: string): number {
  const match = /^(\d+(?:\.\d+)?)([kmgt])?i?b?$/i.exec(text.trim())
  if (!match) throw new UsageError(`${JSON.stringify(text)} is not a size`, 'e.g. 512m, 8g')
  const power = ['', 'k', 'm', 'g', 't'].indexOf((match[2] ?? '').toLowerCase())
  return Math.floor(Number(match[1]) * 1024 ** power)
}
