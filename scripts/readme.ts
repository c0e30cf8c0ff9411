// Fills in what the commands of the README print: every block that begins with `$ isobar` holds a
// command and its output. Main functions: fillOutputs, outputOf. The demonstration needs a server,
// and never says the same twice: of it some lines are shown, and `…` stands for the others.
//
//   npm run readme

import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const ROOT = resolve(import.meta.dirname, '..')
const README = resolve(ROOT, 'README.md')
const BLOCK = /^```\n\$ isobar (.*)\n([\s\S]*?)```$/gm
const DEMO = 'demo'

export function readReadme(): string {
  return readFileSync(README, 'utf8')
}

/** What the README says that a command prints. */
export function outputOf(readme: string, command: string): string | null {
  for (const [, args, output] of readme.matchAll(BLOCK)) if (args === command) return output!
  return null
}

/** The README with what its commands print today, and what those are. */
export function fillOutputs(readme: string): { text: string; commands: string[] } {
  const commands: string[] = []
  const text = readme.replace(BLOCK, (block, args: string) => {
    commands.push(args)
    if (args === DEMO) return block
    return `\`\`\`\n$ isobar ${args}\n${printed(args)}\`\`\``
  })
  return { text, commands }
}

function printed(args: string): string {
  const bin = resolve(ROOT, 'bin/isobar.js')
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args.split(' ')], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  if (status !== 0 && status !== 1) throw new Error(`isobar ${args}: ${stderr}`)
  return stdout
}

/** Whether the output is what is shown: numbers may differ, and `…` stands for any lines. */
export function looksLike(output: string, shown: string): boolean {
  const parts = inGeneral(shown).split(/^…$/m)
  const pattern = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('[\\s\\S]*')
  return new RegExp(`^${pattern}$`).test(inGeneral(output))
}

function inGeneral(text: string): string {
  return text
    .replace(/, (at least )?\d+ times$/gm, '')
    .replace(/file:\/\/\/.*(?=\/isobar-runs)/g, 'file://')
    .replace(/-demo-[0-9a-f]{6}/g, '-demo-N')
    .replace(/\d+/g, 'N')
    .trimEnd()
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(README, fillOutputs(readReadme()).text)
}
