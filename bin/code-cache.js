// Loads the scripts of the command line, with what the compiler made of them in an earlier run: half
// of the time that a short check takes would go into compiling them again. Node 20 keeps nothing of
// the kind. The first run leaves dist/cache: a folder for each version of the compiler and its
// settings, in it a file for each script. Whatever cannot be read, verified or written is done
// without. NODE_DISABLE_COMPILE_CACHE=1 switches it off, as it does in later versions of Node.
// Main function: load.

import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { cachedDataVersionTag, getHeapCodeStatistics } from 'node:v8'
import vm from 'node:vm'

/** Packages of scripts that every command needs, and those that SQL is parsed with. */
const PACKAGES = ['commander', 'picocolors', 'pgsql-ast-parser', 'nearley', 'moo']
/**
 * Of the source and of what was made of it. The compiler compares its version and the length of the
 * source, no more: other code of the same length would run, and damaged code would be a crash.
 */
const HASH = 'sha1'
const HASH_BYTES = 20
/** Then how many bytes of compiled code there were in the process that wrote the file. */
const HEAD_BYTES = HASH_BYTES + 4
/** Functions are compiled when they are first called: a run that called many more writes anew. */
const GROWTH = 1.25
/** Versions and settings of the compiler, of which a user has one or two. */
const MOST_FOLDERS = 8

/**
 * @param main path of the first script
 * @param folder where compiled code is kept, below the package's own
 * @returns what it exports
 */
export function load(main, folder) {
  const isOn = !process.env.NODE_DISABLE_COMPILE_CACHE
  const home = join(folder, `${process.version}-${process.arch}-${cachedDataVersionTag()}`)
  const loaded = new Map() // path -> module
  const scripts = []
  const loadScript = (path) => {
    const known = loaded.get(path)
    if (known) return known.exports
    const module = { exports: {} }
    loaded.set(path, module)
    const name = relative(folder, path)
      .replace(/[^\w.-]+/g, '+')
      .replace(/^[.+]+/, '')
    const kept = join(home, name)
    const source = fs.readFileSync(path)
    const cached = isOn ? read(kept, source) : null
    const script = compile(path, source, cached?.code)
    scripts.push({ script, source, kept, cached: script.cachedDataRejected ? null : cached })
    const require = createRequire(path)
    const near = (id) => {
      // What is not beside it, dist/import.cjs, is Node's: nothing that was kept may import.
      const isOurs = id.startsWith('./') || PACKAGES.includes(id)
      return isOurs ? loadScript(require.resolve(id)) : require(id)
    }
    script.runInThisContext()(module.exports, near, module, path, dirname(path))
    return module.exports
  }
  if (isOn) process.on('exit', () => write(folder, home, scripts))
  return loadScript(main)
}

function compile(path, source, cachedData) {
  const parameters = 'exports, require, module, __filename, __dirname'
  const code = `(function (${parameters}) {${source.toString()}\n})`
  return new vm.Script(code, { filename: path, cachedData })
}

function hashOf(source, made) {
  return createHash(HASH).update(source).update(made).digest()
}

function read(path, source) {
  try {
    const bytes = fs.readFileSync(path)
    if (!hashOf(source, bytes.subarray(HASH_BYTES)).equals(bytes.subarray(0, HASH_BYTES)))
      return null
    return { codeBytes: bytes.readUInt32LE(HASH_BYTES), code: bytes.subarray(HEAD_BYTES) }
  } catch {
    return null
  }
}

/** Leaves for the next run what is missing or has grown. */
function write(folder, home, scripts) {
  try {
    const codeBytes = getHeapCodeStatistics().bytecode_and_metadata_size
    const grown = scripts.filter(({ cached }) => codeBytes > GROWTH * (cached?.codeBytes ?? 0))
    if (grown.length === 0 || !mayWrite(folder, home)) return
    fs.mkdirSync(home, { recursive: true })
    for (const { script, source, kept, cached } of grown) {
      const head = Buffer.alloc(HEAD_BYTES - HASH_BYTES)
      head.writeUInt32LE(codeBytes)
      // A long run forgets functions that it has not called for a while.
      const now = script.createCachedData()
      const code = cached !== null && cached.code.length > now.length ? cached.code : now
      const made = Buffer.concat([head, code])
      // Others may be reading it, or writing the same: nobody sees half a file.
      const draft = `${kept}.${process.pid}`
      fs.writeFileSync(draft, Buffer.concat([hashOf(source, made), made]))
      fs.renameSync(draft, kept)
    }
  } catch {
    // Read-only, full, gone: the next run compiles again.
  }
}

/** Only into one's own package: what root leaves in a user's folder, the user could not remove. */
function mayWrite(folder, home) {
  if (process.geteuid && fs.statSync(dirname(folder)).uid !== process.geteuid()) return false
  if (fs.existsSync(home) || !fs.existsSync(folder)) return true
  return fs.readdirSync(folder).length < MOST_FOLDERS
}
