export const DOORS: readonly string[]
