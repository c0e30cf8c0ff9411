// Judges a history in a file, in any format, and tells the story of the first violation.
//
//   node examples/check-file.mjs history.jsonl si

import { readFileSync } from 'node:fs'
import { check, render } from 'isobar'

const [path = 'examples/lost-update.txt', level = 'si'] = process.argv.slice(2)
const result = await check(readFileSync(path), level)
console.log(await render.text(result, { title: path }))
// 0 satisfied, 1 violated, 3 unknown, as the command does
process.exitCode = { satisfied: 0, violated: 1, unknown: 3 }[result.verdict]
