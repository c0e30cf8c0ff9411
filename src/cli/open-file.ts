// Opens a file as the desktop would. Main function: openFile.

import { spawn } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { plain } from '../report/names.ts'

const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''], // the empty word is the window's title
}
const OTHERS = ['xdg-open']

/** Does not wait until it is closed again; where nothing opens it, says so. */
export async function openFile(path: string, platform: string = process.platform): Promise<void> {
  const [command = '', ...args] = OPENERS[platform] ?? OTHERS
  const opened = await new Promise<boolean>((resolve) => {
    const child = spawn(command, [...args, path], { stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false))
    child.once('spawn', () => resolve(true))
    child.unref()
  })
  if (opened) return
  const where = plain(pathToFileURL(path).href)
  process.stderr.write(`isobar: there is no ${command} here to open it with: ${where}\n`)
}
