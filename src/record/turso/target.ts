// The target `turso:FILE`: Turso, a rewrite of SQLite, in this process, on a file.

import { UsageError } from '../../base/errors.ts'
import { fileTarget } from '../file-database.ts'
import { parseFilePlace } from '../file-place.ts'
import type { TargetKind } from '../target.ts'
import { TURSO_LEVELS } from './connection.ts'
import { TursoDatabase } from './database.ts'
import { DRIVER, versionOf } from './driver.ts'

export const TURSO: TargetKind = {
  form: 'turso:FILE',
  about: 'Turso on a file, in this process, by BEGIN CONCURRENT',
  pattern: /^turso:/,
  driver: DRIVER,
  trial: {
    product: 'Turso',
    tryOut: async () => `opened and closed ${await versionOf()}`,
  },
  parse: (text) => {
    const place = parseFilePlace(text, 'turso:FILE', {})
    if (place.path === ':memory:') {
      throw new UsageError(
        'what Turso has in memory belongs to one connection',
        'name a file: turso:FILE',
      )
    }
    const about = { product: 'Turso', levels: TURSO_LEVELS, usualLevel: 'si' } as const
    return fileTarget(about, () => TursoDatabase.open(place))
  },
}
