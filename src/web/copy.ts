// Copy buttons. Files opened from disk may not be allowed to use the clipboard: then the text is
// selected and copied the old way.

const SHOWN_MS = 1500

export function addCopyButtons(root: ParentNode): void {
  for (const button of root.querySelectorAll<HTMLElement>('[data-copy]')) {
    const label = button.textContent ?? ''
    button.addEventListener('click', async () => {
      const source = document.getElementById(button.dataset['copy'] ?? '')
      if (!source) return
      const done = await copy(source)
      button.textContent = done ? 'Copied' : 'Press Ctrl+C'
      setTimeout(() => {
        button.textContent = label
      }, SHOWN_MS)
    })
  }
}

async function copy(source: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(source.textContent ?? '')
    return true
  } catch {
    getSelection()?.selectAllChildren(source)
    return document.execCommand('copy')
  }
}
