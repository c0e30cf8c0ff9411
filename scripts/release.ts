// Prepares a release: the version number moves as the changesets say, what is "Unreleased" in the
// changelog becomes that version, the lock file follows, and everything is tested. Committing,
// tagging and publishing stay with whoever releases.
//
//   npm run release

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cutRelease } from './changelog.ts'

const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { stdio: 'inherit', shell: process.platform === 'win32' })
const versionNow = () => JSON.parse(readFileSync('package.json', 'utf8')).version as string

if (execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' }) !== '') {
  throw new Error('there are changes that are not committed')
}
const before = versionNow()
run('npx', 'changeset', 'version')
const version = versionNow()
if (version === before) throw new Error('no changeset: npx changeset')
const today = new Date().toISOString().slice(0, 10)
writeFileSync('CHANGELOG.md', cutRelease(readFileSync('CHANGELOG.md', 'utf8'), version, today))
run('npm', 'install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund')
run('npm', 'test')
console.log(`ready: git commit -am "release: ${version}" && git tag v${version} && npm publish`)
