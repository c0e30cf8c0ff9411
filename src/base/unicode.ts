// Text from bytes. A byte order mark begins a file, nothing else: in the middle of one it is a
// character like any other, which TextDecoder drops unless it is told not to.

export const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true })
