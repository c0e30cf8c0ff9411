// A long list cut to what there is room for: the elements that matter with their neighbours, and
// the gaps between as `…`. Main function: cutList.

const GAP = '…'
const MAX_FOCUS = 6 // elements that are shown with neighbours; of more the first ones

/**
 * The texts of the elements to show, in order, with `…` where some are left out.
 * @param matters positions to show whatever room there is; without any, the end of the list, which
 * is where reads differ
 * @param room characters for all of them
 */
export function cutList(
  count: number,
  textOf: (at: number) => string,
  matters: readonly number[],
  room: number,
): string[] {
  const texts = new Map<number, string>()
  const wanted = matters.filter((at) => at >= 0 && at < count).slice(0, MAX_FOCUS)
  const focus = wanted.length > 0 ? wanted : [count - 1]
  let left = room
  /** Whether there is room for it; what matters is shown even if there is not. */
  const take = (at: number, isNeeded: boolean): boolean => {
    if (at < 0 || at >= count || texts.has(at)) return true
    const text = textOf(at)
    if (text.length + 1 > left && !isNeeded) return false
    left -= text.length + 1
    texts.set(at, text)
    return true
  }
  for (const at of focus) take(at, true)
  for (let reach = 1; reach < count && texts.size < count; reach++) {
    const hasRoom = focus.every((at) => take(at - reach, false) && take(at + reach, false))
    if (!hasRoom) break
  }
  const parts: string[] = []
  let next = 0
  for (const at of [...texts.keys()].sort((a, b) => a - b)) {
    if (at > next) parts.push(GAP)
    parts.push(texts.get(at)!)
    next = at + 1
  }
  if (next < count) parts.push(GAP)
  return parts
}
