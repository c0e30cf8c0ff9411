// Reads a history from standard input, for open.test.ts.

import { readHistory } from '../../src/formats/open.ts'

const { format, history } = await readHistory('-')
process.stdout.write(`${format.id} ${history.opCount}\n`)
