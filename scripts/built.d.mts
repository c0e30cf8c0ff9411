export function isBuilt(root?: string): boolean
export function noteBuilt(root?: string): void
