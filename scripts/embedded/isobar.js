#!/usr/bin/env node
// The command of this checkout for `npx isobar`: npm links the commands of workspaces, not those of
// the package itself, which it would pack and build anew each time.
await import('../../bin/isobar.js')
