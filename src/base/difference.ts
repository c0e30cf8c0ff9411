// Where two pieces of plain data differ. Nothing recurses: the data may come from a hostile file.
// Main function: findDifference.

type Parts = Record<string, unknown>

/** The path of the first difference, such as `results[0].proof.order[3]`; null if there is none. */
export function findDifference(one: unknown, other: unknown): string | null {
  const pending: [one: unknown, other: unknown, path: string][] = [[one, other, '']]
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [a, b, path] = next
    if (Object.is(a, b)) continue
    if (!isParts(a) || !isParts(b) || Array.isArray(a) !== Array.isArray(b)) return path
    const isList = Array.isArray(a)
    const names = new Set([...namesOf(a), ...namesOf(b)])
    for (const name of [...names].reverse()) {
      const inside = isList ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`
      const [x, y] = [partOf(a, name), partOf(b, name)]
      // Orders are long: what is equal is not worth a place in line.
      if (!Object.is(x, y)) pending.push([x, y, inside])
    }
  }
  return null
}

function isParts(value: unknown): value is Parts {
  return typeof value === 'object' && value !== null
}

function namesOf(parts: Parts): string[] {
  return Object.keys(parts).filter((name) => parts[name] !== undefined)
}

function partOf(parts: Parts, name: string): unknown {
  return Object.hasOwn(parts, name) ? parts[name] : undefined
}
