// How large letters are on the screen: whatever scales a picture scales them too. Main function:
// findSmallLetters.

import type { Page } from 'playwright-core'

const SMALLEST_PX = 11

/** What is written smaller than one can read, drawings in files of their own included. */
export function findSmallLetters(page: Page): Promise<string[]> {
  return page.evaluate((smallest) => {
    const found: string[] = []
    const isSeen = (element: Element) => element.checkVisibility() && !element.closest('.unseen')
    for (const element of document.querySelectorAll('body *')) {
      const words = [...element.childNodes]
        .filter(({ nodeType }) => nodeType === Node.TEXT_NODE)
        .map(({ textContent }) => textContent?.trim())
        .join('')
      if (words === '' || !isSeen(element) || element.matches('option, title, style')) continue
      const scale = element instanceof SVGGraphicsElement ? element.getScreenCTM()!.a : 1
      const size = Number.parseFloat(getComputedStyle(element).fontSize) * scale
      if (size < smallest - 0.05) found.push(`${size.toFixed(1)} px: ${words}`)
    }
    for (const image of document.querySelectorAll<HTMLImageElement>('img[src$=".svg"]')) {
      const scale = image.getBoundingClientRect().width / image.naturalWidth
      if (scale < 0.999) found.push(`${scale.toFixed(2)} of its size: ${image.src}`)
    }
    return found
  }, SMALLEST_PX)
}
