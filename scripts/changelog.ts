// The changelog of a release. Main function: cutRelease.

const UNRELEASED = '## Unreleased\n'

/** What was unreleased becomes the version; an empty "Unreleased" stands above it. */
export function cutRelease(text: string, version: string, date: string): string {
  const at = text.indexOf(UNRELEASED)
  if (at < 0) throw new Error('the changelog has no "Unreleased"')
  const behind = text.slice(at + UNRELEASED.length)
  if (/^\s*(## |$)/.test(behind)) throw new Error('nothing is unreleased')
  return `${text.slice(0, at)}${UNRELEASED}\n## ${version} (${date})\n${behind}`
}
