// The command line with arguments that nobody should give: hostile names, options of other
// commands, values out of every range, files that are something else. Whatever comes, it ends with
// a code of its own and a sentence, never with an internal error, and destroys no input.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Random } from '../../src/base/random.ts'
import { run } from '../../src/cli/main.ts'
import { HOSTILE_NAMES } from '../report/hostile.ts'
import type { Property } from './property.ts'

const HISTORY = 's1: r(x,0) w(x,1) [0,1]\ns2: r(x,0) w(x,2) [0,2]\n'

/** Name -> content of files that arguments may name. */
const FILES: Record<string, string> = {
  'h.notation': HISTORY,
  'empty.txt': '',
  'zip.gz': '\u001f\u008b\u0008\u0000',
  'zeros.bincode': '\0'.repeat(64),
  'bad.jsonl': '{"isobar":1}\n{"id":1,"session":1,"ops":[["w",',
  'verdict.json': '{"isobar":1,"results":[]}',
  'text.md': '# mine\n',
}

const COMMANDS = ['check', 'stats', 'verify', 'report', 'generate', 'convert', 'shrink', 'run']
const FLAGS = [
  ...['--json', '--elle', '--all', '--notation', '--no-certify', '--force', '--lossy', '--full'],
  '--no-scratch',
  ...['--disjoint-writes', '--help', '--version', '--verbose', '-x', '--', '-l', '-f'],
]
/** Options that name files: they must not name any outside the folder. */
const NAMING = [
  ...['--certificate', '--report', '--svg', '--dot', '--junit', '--summary', '--out'],
  ...['--password-file', '--workload', '--scratch'],
]
const VALUED = [
  ...['--level', '--format', '--tap', '--budget', '--memory', '--algorithm', '--session-order'],
  ...[
    '--limit',
    '--quiet',
    '--color',
    '--to',
    '--anomaly',
    '--line',
    '--seed',
    '--shape',
    '--ops',
    '--reads',
  ],
  ...['--keys', '--mix', '--distribution', '--store', '--inject', '--aborts', '--conflicts'],
  ...['--layout', '--db-level', '--rate', '--retries', '--fault', '--patience', '--elle'],
  ...['--aborted-reads', '--concurrency', '--indeterminates'],
]
const WORDS = [
  ...[
    '',
    ' ',
    '0',
    '1',
    '-1',
    '2',
    '1e400',
    '1e-9',
    'NaN',
    '0x10',
    '3s',
    '1ms',
    '100m',
    '5%',
    'on',
  ],
  ...[
    'off',
    'rc',
    'ser',
    'rc,si',
    'mixed',
    'lin',
    'pl-2',
    'serializable',
    ',',
    'a',
    'j,k',
    'native',
  ],
  ...[
    'plume',
    'cobra',
    'viper',
    'jepsen',
    'search',
    'edn',
    'json',
    'general',
    'mini',
    'lwt',
    'sql',
  ],
  ...[
    'append',
    'lost-update:2',
    'write-skew',
    'zipfian',
    'retry',
    'session',
    '1,0,0',
    '\0',
    '\u001b[2J',
  ],
]

/** Those that would take long, wait for somebody, or start a server, are left out. */
function argumentsOf(random: Random, folder: string): string[] {
  const names = [...Object.keys(FILES), 'd', 'link', 'loop', 'absent', 'new.html', 'd/x.svg']
  const path = () => join(folder, random.chance(0.9) ? random.pick(names) : hostile())
  const hostile = () => random.pick(HOSTILE_NAMES).replaceAll('\0', '').slice(0, 200)
  const word = () =>
    random.chance(0.3) ? path() : random.chance(0.9) ? random.pick(WORDS) : hostile()
  const command = random.chance(0.95) ? random.pick(COMMANDS) : hostile()
  const argv = [command]
  if (command === 'run') argv.push(`sim:${random.pick(['ser', 'rc', 'si+lost-update', 'x', ''])}`)
  else for (let i = random.below(3); i >= 0; i--) argv.push(path())
  for (let i = random.below(5); i > 0; i--) {
    if (random.chance(0.4)) argv.push(random.pick(FLAGS))
    else if (random.chance(0.45)) argv.push(random.pick(NAMING), random.chance(0.1) ? '' : path())
    else argv.push(random.pick(VALUED), word())
  }
  if (command === 'run') argv.push('--patience', '1s')
  if (command === 'run' && !argv.includes('--out')) argv.push('--out', join(folder, 'run'))
  if (command === 'run' || command === 'generate')
    argv.push('--transactions', '20', '--sessions', '3')
  return argv
}

async function survivesArguments(seed: number): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), 'isobar-arguments-'))
  try {
    for (const [name, text] of Object.entries(FILES)) {
      writeFileSync(join(folder, name), text, 'latin1')
    }
    mkdirSync(join(folder, 'd'))
    symlinkSync('h.notation', join(folder, 'link'))
    symlinkSync('loop', join(folder, 'loop'))
    const argv = argumentsOf(new Random(seed), folder)
    const { code, err } = await call(argv)
    const shown = `${JSON.stringify(argv)} ended with ${code}: ${err.slice(0, 3000)}`
    if (![0, 1, 2, 3, 4].includes(code)) return shown
    if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(err.replaceAll('\n', ''))) return `raw text: ${shown}`
    if ((code === 2 || code === 4) && err === '') return `nothing was said: ${shown}`
    const isLost = Object.keys(FILES).find((name) => {
      const now = readFileSync(join(folder, name), 'latin1')
      return argv.includes('--force')
        ? now === '' && FILES[name] !== ''
        : !now.startsWith(FILES[name]!)
    })
    return isLost === undefined ? null : `${isLost} was destroyed: ${shown}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs a command in this process; what it prints is kept. */
async function call(argv: readonly string[]): Promise<{ code: number; err: string }> {
  const [out, errors] = [process.stdout.write, process.stderr.write]
  let err = ''
  const keep = (text: unknown, ...rest: unknown[]) => {
    err += String(text)
    const done = rest.at(-1)
    if (typeof done === 'function') done()
    return true
  }
  const swallow = (_text: unknown, ...rest: unknown[]) => {
    const done = rest.at(-1)
    if (typeof done === 'function') done()
    return true
  }
  process.stdout.write = swallow as typeof process.stdout.write
  process.stderr.write = keep as typeof process.stderr.write
  try {
    return { code: await run(argv), err }
  } finally {
    process.stdout.write = out
    process.stderr.write = errors
  }
}

export const ARGUMENTS: Property = { name: 'arguments', run: survivesArguments }
