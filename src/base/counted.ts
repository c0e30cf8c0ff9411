// How many of something, in words: `1 read`, `2 reads`. Main function: counted.

/** @param many more of it, unless that only takes an s */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
