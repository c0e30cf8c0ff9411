// Whether dist is what a build would make: `npm ci` builds, and `npm test` after it need not again.
// A note beside the packages holds what the last build was made of and what it made, both as hashes:
// whoever changes one of them gets a new build. Main functions: isBuilt, noteBuilt.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const NOTE = 'node_modules/.cache/built'
/** What a build reads, with all files at the root: versions of packages are in one of them. */
const FOLDERS = ['src', 'scripts', 'docs', 'bin', 'examples']

function filesBelow(folder, recursive = true) {
  return readdirSync(folder, { recursive, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

function hashOf(root, files) {
  const hash = createHash('sha256')
  for (const file of files.sort()) {
    const bytes = readFileSync(file)
    hash.update(`${relative(root, file)}\0${bytes.length}\0`).update(bytes)
  }
  return hash.digest('hex')
}

function describe(root) {
  const read = FOLDERS.map((name) => join(root, name)).filter((folder) => existsSync(folder))
  const from = [...read.flatMap((folder) => filesBelow(folder)), ...filesBelow(root, false)]
  const dist = join(root, 'dist')
  const cache = join(dist, 'cache', sep) // what runs leave there (bin/code-cache.js)
  const made = filesBelow(dist).filter((file) => !file.startsWith(cache))
  return `${hashOf(root, from)} ${hashOf(root, made)}\n`
}

export function isBuilt(root = ROOT) {
  const isThere = [NOTE, 'dist'].every((name) => existsSync(join(root, name)))
  return isThere && readFileSync(join(root, NOTE), 'utf8') === describe(root)
}

/** After a build. */
export function noteBuilt(root = ROOT) {
  const note = join(root, NOTE)
  mkdirSync(dirname(note), { recursive: true })
  rmSync(note, { force: true })
  writeFileSync(note, describe(root))
}
