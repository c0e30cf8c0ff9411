// Builds the package: what its entry points need is bundled into dist, with what several of them
// share in dist/chunks; the command line into scripts in dist/cli, because loading a few files starts
// it twice as fast as loading hundreds, and what was compiled of scripts can be kept. The script and the style sheet of the report go into a module,
// small enough to be put into every report; the site goes into dist/site. Dependencies of the
// package stay imports. Declarations are rolled up, a file for each entry point.

import { rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import { rollup } from 'rollup'
import { isBuilt, noteBuilt } from './built.mjs'
import { DOORS, entries, isForeign, writeDeclarations } from './declarations.mjs'
import { bundlePage } from './page-script.mjs'
import { buildSite } from './site.mjs'

const ROOT = new URL('..', import.meta.url)
const pathOf = (name) => fileURLToPath(new URL(name, ROOT))
/** Chunks below this many bytes are joined with others; above, the command line would load more. */
const SMALL_CHUNK = 36_000

const typescript = {
  name: 'typescript',
  async transform(code, id) {
    const options = { loader: 'ts', target: 'node20', sourcemap: true, sourcefile: id }
    return id.endsWith('.ts') ? transform(code, options) : null
  },
}

/**
 * The parser of predicates takes a third of the command line's start, and few histories have any: it
 * is loaded when one is read. The library cannot do so, which also runs where there is no Node.
 */
const PARSER = 'pgsql-ast-parser'
const LAZY_PARSER = `
let parser
export const parse = (...words) => (parser ??= require('${PARSER}')).parse(...words)
`
const lazyParser = {
  name: 'lazy-parser',
  resolveId: (id) => (id === PARSER ? '\0lazy-parser' : null),
  load: (id) => (id === '\0lazy-parser' ? LAZY_PARSER : null),
}
/** What modules have and scripts lack: where they are, and imports of modules of others. */
const IMPORT = 'import.cjs'
const asScript = {
  name: 'as-script',
  resolveImportMeta: (property) =>
    property === 'url' ? "require('node:url').pathToFileURL(__filename).href" : null,
  renderDynamicImport: ({ targetModuleId: id }) =>
    id === null || isForeign(id) ? { left: `require('../${IMPORT}')(`, right: ')' } : null,
}

if (isBuilt()) {
  process.stdout.write('dist is what a build would make\n')
  process.exit()
}
rmSync(new URL('dist', ROOT), { recursive: true, force: true }) // names of chunks change
// The library apart from the command line: what both need must not bring Node to a browser. In it
// checkSync and parseHistory are apart, so that who only calls `check` gets deciders and parsers
// when they are needed.
const LIBRARY = [...DOORS, 'library/check-sync', 'library/parse']
const RENDERERS = /src\/report\/(?!verify-file)/
const MAKERS =
  /src\/(sim|workload|pipeline)\/|verdict\/(shrink|sql-parts|parse-file)\.ts|report\/verify-file\.ts/
/**
 * How histories are written down: who reads and judges in a page does without. The table of formats
 * is apart from what reports write with, else esbuild takes what both need for needed at once.
 */
const WRITERS = /src\/formats\/([\w-]+\/(sql-)?write|fit)\.ts/
const TABLE_OF_WRITERS = /src\/(formats\/(formats|writers)|library\/write)\.ts/
/** What many need and is too small for a file of its own; names of anomalies are apart, since the library hands them out. */
const SMALL = /src\/(base\/(deadline|json)|history\/told-ops|verdict\/(certify|named-edges))\.ts/
const ANOMALIES = /src\/levels\/anomalies\.ts/
/** What the library has beside reading and judging, apart from its door: what nobody uses is not loaded. */
const BESIDE =
  /src\/(history\/shape|library\/(anomalies|describe|differ|generate|shrink|verify))\.ts/
/** What takes a result, with it: it needs nothing at first. */
const RESULT = /src\/library\/(check-result|certify|render)\.ts/
/** How a question is read that is no parsed history: `check` loads it when it is called. */
const ASKED =
  /src\/(library\/(arguments|input|plain)|levels\/(words|jepsen|databases|staleness))\.ts/
/** Clauses, which need their parser. */
const CLAUSES = /src\/(sql\/|verdict\/sql-rows|history\/bad-predicate)/
const CHOICE = /src\/(check\/writers\/|verdict\/(certify-writers|cover-choices)\.ts)/
/** What calls the deciders, whatever the history holds. */
const JUDGE = /src\/check\/(judge|partial)\.ts/
/** Chunks that have all that these import, and no chunk before them has. */
const BEGINNINGS = {
  // Where judging begins, and where reading does: `check` loads the latter when it is called.
  'at-once': ['library/check', 'levels/levels'],
  reading: ['formats/parse'],
  // What certifiers of all kinds of histories have in common.
  proofs: ['anomaly-rules', 'prove-edges', 'certify-audits', 'certify-cases'].map(
    (name) => `verdict/${name}`,
  ),
  // What every verdict is told with, be it drawn or not.
  told: ['report/describe-verdict'],
}
let begun = null
function importedFrom(ids, getModuleInfo) {
  const found = new Set(ids)
  for (const id of found) for (const next of getModuleInfo(id).importedIds) found.add(next)
  return found
}
function beginnings(getModuleInfo) {
  const found = new Map()
  for (const [chunk, names] of Object.entries(BEGINNINGS)) {
    const ids = importedFrom(Object.values(entries(names)), getModuleInfo)
    for (const id of ids) if (!found.has(id)) found.set(id, chunk)
  }
  return found
}
/** Of the library's renderers, and of what makes, cuts or verifies histories, who uses one gets all: fewer files. */
function libraryChunk(id, { getModuleInfo }) {
  begun ??= beginnings(getModuleInfo)
  if (['at-once', 'reading'].includes(begun.get(id))) return begun.get(id)
  if (SMALL.test(id)) return 'small'
  if (ANOMALIES.test(id)) return 'anomalies'
  if (BESIDE.test(id)) return 'beside'
  if (RESULT.test(id)) return 'result'
  if (ASKED.test(id)) return 'asked'
  if (CHOICE.test(id)) return 'choice-of-writers'
  if (begun.has(id)) return begun.get(id)
  if (CLAUSES.test(id)) return 'clauses'
  if (RENDERERS.test(id)) return 'renderers'
  if (JUDGE.test(id)) return 'judge'
  if (WRITERS.test(id)) return 'writers'
  if (TABLE_OF_WRITERS.test(id)) return 'formats'
  return MAKERS.test(id) ? 'makers' : undefined
}
const WITH_SERVERS =
  /src\/(cli\/(conformance|demo|doctor|fleet|proxy|replay|serve)-command|fleet\/report-(page|files))\.ts/
const WITH_FILES =
  /src\/cli\/(completion|convert|differ|explain|report|shrink|stats|verify)-command\.ts/
/** What a check runs is one script: across scripts each constant would be looked up at each use. */
const CHECK = ['src/cli/main.ts', 'src/cli/check-command.ts'].map(pathOf)
/** What judges SQL is another, loaded with such a history, and needs nothing that writes reports. */
const SQL = ['src/check/mixed/check-mixed.ts', 'src/verdict/sql-parts.ts'].map(pathOf)
let forCheck = null
let forSql = null
/** Commands share two files, but for those that are called in loops: fewer files, as quick a start. */
function commandChunk(id, { getModuleInfo }) {
  forCheck ??= importedFrom(CHECK, getModuleInfo)
  if (forCheck.has(id)) return 'check'
  forSql ??= importedFrom(SQL, getModuleInfo)
  if (forSql.has(id)) return 'sql'
  if (WITH_SERVERS.test(id)) return 'commands-with-servers'
  return WITH_FILES.test(id) ? 'commands-with-files' : undefined
}
/** One folder below dist, both: they find the package's files the same way. */
const LIBRARY_FILES = {
  format: 'es',
  chunkFileNames: 'chunks/[name]-[hash].js',
  manualChunks: libraryChunk,
}
/** Scripts, because Node keeps no compiled modules (bin/code-cache.js). Their names change with what is in them. */
const COMMAND_FILES = {
  format: 'cjs',
  interop: 'default', // as Node has it where a module imports a script
  entryFileNames: '[name].cjs',
  chunkFileNames: 'cli/[name]-[hash].cjs',
  experimentalMinChunkSize: SMALL_CHUNK,
  manualChunks: commandChunk,
}
/** The program of a thread: one script, so that it starts sooner. */
const THREAD = { 'cli/crew-thread': pathOf('src/record/crew-thread.ts') }
const THREAD_FILES = { ...COMMAND_FILES, manualChunks: undefined }
const BUNDLES = [
  { input: entries(LIBRARY), files: LIBRARY_FILES },
  { input: entries(['cli/main']), files: COMMAND_FILES },
  { input: THREAD, files: THREAD_FILES },
]
const values = new Map()
for (const { input, files } of BUNDLES) {
  const isLibrary = files === LIBRARY_FILES
  const isLazy = (id) => !isLibrary && id === PARSER
  const code = await rollup({
    input,
    external: (id) => isForeign(id) && !isLazy(id),
    plugins: isLibrary ? [typescript] : [lazyParser, asScript, typescript],
    treeshake: { moduleSideEffects: (id) => /matchers|cli\/main|crew-thread/.test(id) },
  })
  const { output } = await code.write({
    dir: pathOf('dist'),
    ...files,
    onlyExplicitManualChunks: true,
    // Bundlers warn of imports for nothing but their effects, and there are none.
    hoistTransitiveImports: false,
    // For who works on it: the package leaves maps out, being twice as large with them.
    sourcemap: 'hidden',
    sourcemapExcludeSources: true,
  })
  for (const { name, exports } of output) values.set(name, exports)
}
writeFileSync(new URL(`dist/${IMPORT}`, ROOT), 'module.exports = (id) => import(id)\n')

// The library puts the same script and style sheet into the pages it makes, in browsers too.
const { script, style } = await bundlePage()
writeFileSync(
  new URL('dist/page-assets.js', ROOT),
  `export const script = ${JSON.stringify(script)}\nexport const style = ${JSON.stringify(style)}\n`,
)
await writeDeclarations(values)
await buildSite()
noteBuilt()
