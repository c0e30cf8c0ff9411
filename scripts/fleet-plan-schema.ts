// Writes docs/fleet-plan.schema.json, the JSON schema of the plans of a fleet, from the description
// that plans are held to (src/fleet/plan-schema.ts): npm run schema. Main function: planSchema.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PLAN_SCHEMA } from '../src/fleet/plan-schema.ts'

/** The schema as the file has it. */
export function planSchema(): string {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A plan of isobar fleet',
    ...PLAN_SCHEMA,
    description: 'What a night is asked for; see fleet.md.',
  }
  return `${JSON.stringify(schema, null, 2)}\n`
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(join(import.meta.dirname, '../docs/fleet-plan.schema.json'), planSchema())
}
