// Writes docs/verdict.schema.json, the JSON schema of verdict files, from the tables that describe
// them (src/verdict/verdict-file.ts): npm run schema. Main function: verdictSchema.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Fields, Shape } from '../src/verdict/shape.ts'
import { VERDICT_TABLES } from '../src/verdict/verdict-file.ts'

const { verdict, ...parts } = VERDICT_TABLES
const NAMES = new Map<Fields, string>(Object.entries(parts).map(([name, fields]) => [fields, name]))

/** The schema as the file has it. */
export function verdictSchema(): string {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'The verdict of Isobar on one history',
    description: 'What isobar check --json prints; see verdict-format.md.',
    ...objectSchema(verdict),
    $defs: Object.fromEntries(
      Object.entries(parts).map(([name, fields]) => [name, objectSchema(fields)]),
    ),
  }
  return `${JSON.stringify(schema, null, 2)}\n`
}

/** The tables refer to each other by name, so this ends. */
function schemaOf(shape: Shape): object {
  switch (shape.kind) {
    case 'leaf':
      return shape.schema
    case 'list':
      return { type: 'array', items: schemaOf(shape.of()) }
    case 'maybe':
      return { anyOf: [schemaOf(shape.of), { type: 'null' }] }
    case 'object': {
      const name = NAMES.get(shape.fields)
      return name === undefined ? objectSchema(shape.fields) : { $ref: `#/$defs/${name}` }
    }
  }
}

function objectSchema(fields: Fields): object {
  const all = Object.entries(fields)
  return {
    type: 'object',
    required: all.filter(([, field]) => !('optional' in field)).map(([name]) => name),
    properties: Object.fromEntries(all.map(([name, field]) => [name, schemaOf(field)])),
  }
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(join(import.meta.dirname, '../docs/verdict.schema.json'), verdictSchema())
}
