// Links to findings: what is folded opens when somebody goes there. Main functions: followLinks,
// goTo.

/** Opens the finding of that id, and shows it. */
export function goTo(id: string): void {
  const target = document.getElementById(id)
  if (!target) return
  for (let at: Element | null = target; at; at = at.parentElement) {
    if (at instanceof HTMLDetailsElement) at.open = true
  }
  target.scrollIntoView()
  target.querySelector('summary')?.focus({ preventScroll: true })
}

export function followLinks(): void {
  const follow = () => {
    if (location.hash.length > 1) goTo(location.hash.slice(1)) // ids need no decoding
  }
  addEventListener('hashchange', follow)
  follow()
}
