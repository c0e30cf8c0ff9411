// What may stand in a plan, as a JSON schema: docs/fleet-plan.schema.json is written from it (`npm
// run schema`), and read-plan.ts holds plans to it. Only what is used of the language is described.

/** The part of JSON schema that plans need. */
export interface Schema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number'
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: false
  readonly items?: Schema
  readonly minItems?: number
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly pattern?: string
  readonly anyOf?: readonly Schema[]
}

const text = (description: string): Schema => ({ type: 'string', description })

/** One, or a list of them. */
const some = (item: Schema, description: string): Schema => ({
  description,
  anyOf: [item, { type: 'array', items: item, minItems: 1 }],
})

/** `1..100`, `0..1000 step 50`. */
export const RANGE = /^\s*(\d+)\s*\.\.\s*(\d+)(?:\s+step\s+(\d+))?\s*$/
/** Of a finding. */
export const FINGERPRINT = /^[0-9a-f]{12}$/
const range: Schema = { type: 'string', pattern: RANGE.source }
const whole: Schema = { type: 'integer', minimum: 0 }

const numbers = (description: string): Schema => ({
  description,
  anyOf: [whole, range, { type: 'array', items: { anyOf: [whole, range] }, minItems: 1 }],
})

/** What a workload is asked for: each a value, a list or a range. */
const PARAMETERS: Readonly<Record<string, Schema>> = {
  sessions: numbers('Sessions that run at the same time.'),
  transactions: numbers('Transactions in all.'),
  keys: numbers('Keys, as in isobar run --keys.'),
  ops: numbers('Operations of a transaction.'),
  reads: some({ type: 'number', minimum: 0 }, 'Share of reads, 0 to 1.'),
  distribution: some({ type: 'string' }, 'How keys are chosen.'),
  aim: some({ type: 'string' }, 'An anomaly that transactions are made for; no shape then.'),
}

export const PARAMETER_NAMES: readonly string[] = Object.keys(PARAMETERS)

const workload: Schema = {
  anyOf: [
    text('The name of a shape, as in isobar run --shape.'),
    {
      type: 'object',
      properties: { shape: text('The name of a shape.'), ...PARAMETERS },
      additionalProperties: false,
    },
  ],
}
const workloads = some(workload, 'Kinds of transactions (churn).')
const databaseLevels = some(
  { type: 'string' },
  'Levels asked of the database; its usual one if none is named.',
)
const fault = some(
  { type: 'string' },
  'Faults that go together, as in isobar run --fault; none for no fault.',
)
const faults: Schema = {
  description: 'What goes wrong: each entry is a fault, or a list of faults that go together.',
  anyOf: [{ type: 'string' }, { type: 'array', items: fault, minItems: 1 }],
}

const target: Schema = {
  anyOf: [
    text('As in isobar run; env:NAME stands for what the workers have in that variable.'),
    {
      type: 'object',
      properties: {
        target: text('As in isobar run, or env:NAME.'),
        workloads,
        'db-levels': databaseLevels,
        faults,
      },
      required: ['target'],
      additionalProperties: false,
    },
  ],
}

export const KEEP = ['none', 'findings', 'all'] as const
export const SPLIT = ['levels', 'parts'] as const

export const PLAN_SCHEMA: Schema = {
  type: 'object',
  properties: {
    name: text('What the plan is called; nights of one name are compared. The name of its file.'),
    targets: some(target, 'Databases to run transactions on.'),
    histories: some(
      { type: 'string' },
      'Files of histories, or directories of them, from where the plan is.',
    ),
    split: some(
      { type: 'string', enum: SPLIT },
      'What becomes jobs of their own: levels of a history, parts of it that do not communicate.',
    ),
    workloads,
    parameters: {
      type: 'object',
      description: 'What every workload is asked for, unless it says otherwise.',
      properties: PARAMETERS,
      additionalProperties: false,
    },
    seeds: numbers('Where all choices come from (1).'),
    'db-levels': databaseLevels,
    levels: some({ type: 'string' }, 'Levels to judge; of runs, what the database was asked for.'),
    faults,
    repeats: { type: 'integer', minimum: 1, description: 'How often each run is made (1).' },
    duration: text('How long each run takes, in place of a number of transactions, e.g. 30s.'),
    budget: text('How long judging may take before the verdict is unknown, e.g. 60s (60s).'),
    limits: {
      type: 'object',
      description: 'What a job may use before its process is ended.',
      properties: {
        time: text('E.g. 5m (10m).'),
        memory: text('E.g. 2g (2g).'),
      },
      additionalProperties: false,
    },
    attempts: {
      type: 'integer',
      minimum: 1,
      description: 'How often a job is tried that does not come to a verdict (3).',
    },
    keep: {
      type: 'string',
      enum: KEEP,
      description: 'Which histories are kept: of none, of those with findings, of all (findings).',
    },
    known: {
      type: 'array',
      items: { type: 'string', pattern: FINGERPRINT.source },
      description: 'Fingerprints of findings that are known: they do not fail the night.',
    },
  },
  additionalProperties: false,
}
