// A small language for what a file may hold. A shape is written once, as a table of fields; the
// types of what was read are derived from it, the validator follows it, and the JSON schema in docs
// is made of it. Main functions: the makers (leaf, list, maybe, object, optional), findProblem.

/** What a value must be; `T` is its type once it was found to be so. */
export type Shape<T = unknown> = Node & {
  /** Never there: it carries the type. */
  readonly type?: T
}

type Node =
  | {
      readonly kind: 'leaf'
      /** In words, for errors. */
      readonly what: string
      readonly fits: (value: unknown) => boolean
      /** In JSON schema. */
      readonly schema: object
    }
  | { readonly kind: 'list'; readonly of: () => Shape }
  | { readonly kind: 'maybe'; readonly of: Shape } // or null
  | { readonly kind: 'object'; readonly fields: Fields }

export type Fields = Readonly<Record<string, Shape | OptionalShape>>
export type OptionalShape<T = unknown> = Shape<T> & { readonly optional: true }

/** The type of what has a shape. */
type Of<S> = S extends Shape<infer T> ? T : never

/** The type of what has the fields of a table; comments on them are those of the type. */
export type FieldsOf<F> = {
  [K in keyof F as F[K] extends { optional: true } ? never : K]: Of<F[K]>
} & { [K in keyof F as F[K] extends { optional: true } ? K : never]?: Of<F[K]> }

export function leaf<T>(what: string, fits: (value: unknown) => boolean, schema: object): Shape<T> {
  return { kind: 'leaf', what, fits, schema }
}

/** One of some words. */
export function word<const T extends string>(words: readonly T[]): Shape<T> {
  const fits = (value: unknown) => (words as readonly unknown[]).includes(value)
  return leaf(words.join(' or '), fits, { enum: words })
}

/** @param of a function where the shape is not there yet, because it holds itself */
export function list<T>(of: Shape<T> | (() => Shape<T>)): Shape<T[]> {
  return { kind: 'list', of: typeof of === 'function' ? of : () => of }
}

/** That, or null. */
export function maybe<T>(of: Shape<T>): Shape<T | null> {
  return { kind: 'maybe', of }
}

export function object<F extends Fields>(fields: F): Shape<FieldsOf<F>> {
  return { kind: 'object', fields }
}

/** A field that may be absent. */
export function optional<T>(shape: Shape<T>): OptionalShape<T> {
  return { ...shape, optional: true }
}

/** Where the value is not what it must be; null if it is. Nothing recurses: files may be hostile. */
export function findProblem(root: unknown, rootShape: Shape): string | null {
  const pending: [value: unknown, shape: Shape, path: string][] = [[root, rootShape, '']]
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [value, shape, path] = next
    switch (shape.kind) {
      case 'leaf':
        if (!shape.fits(value)) return `${path} is ${describe(value)}, not ${shape.what}`
        break
      case 'maybe':
        if (value !== null) pending.push([value, shape.of, path])
        break
      case 'list':
        if (!Array.isArray(value)) return `${path} is ${describe(value)}, not a list`
        for (const [i, item] of value.entries()) pending.push([item, shape.of(), `${path}[${i}]`])
        break
      case 'object':
        if (!isObject(value)) return `${path || 'it'} is ${describe(value)}, not an object`
        for (const [name, field] of Object.entries(shape.fields)) {
          const inside = path ? `${path}.${name}` : name
          if (Object.hasOwn(value, name)) pending.push([value[name], field, inside])
          else if (!('optional' in field)) return `${inside} is missing`
        }
    }
  }
  return null
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A value of a file, in a few words. */
export function describe(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return 'a list'
  if (isObject(value)) return 'an object'
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
