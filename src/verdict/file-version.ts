// The version of verdict files. Apart from their tables, which only those load who read files.

export const FILE_VERSION = 2
