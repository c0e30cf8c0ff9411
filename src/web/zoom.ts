// A picture that fills the width it has and can be made larger and smaller: by buttons, or by the
// wheel with Ctrl. Where it is wider than its place, a hint says that it scrolls. Main class: Zoom.

const STEP = 1.25
const LARGEST = 4
const SMALLEST = 0.25
/** A small picture grows to fill its place, but letters must not become headlines. */
const LARGEST_FIT = 1.4

export class Zoom {
  /** Null: as wide as its place. */
  private scale: number | null = null
  private readonly hint: HTMLElement

  constructor(private readonly canvas: HTMLElement) {
    const caption = canvas.parentElement!.querySelector('figcaption')!
    const tools = document.createElement('span')
    tools.className = 'zoom'
    const what = canvas.dataset['view'] === 'graph' ? 'dependencies' : 'sessions'
    const add = (text: string, name: string, act: () => void) => {
      const button = document.createElement('button')
      button.type = 'button'
      button.textContent = text
      button.setAttribute('aria-label', `${name}: ${what}`)
      button.addEventListener('click', act)
      tools.append(button)
    }
    add('−', 'Smaller', () => this.zoomTo(this.current() / STEP))
    add('+', 'Larger', () => this.zoomTo(this.current() * STEP))
    add('Fit', 'Fit the width', () => this.zoomTo(null))
    caption.append(tools)
    this.hint = document.createElement('p')
    this.hint.className = 'hint'
    this.hint.textContent = '↔ There is more: scroll or swipe sideways.'
    this.hint.hidden = true
    canvas.after(this.hint)
    canvas.addEventListener(
      'wheel',
      (event) => {
        if (!event.ctrlKey) return
        event.preventDefault()
        this.zoomTo(this.current() * (event.deltaY < 0 ? STEP : 1 / STEP))
      },
      { passive: false },
    )
    new ResizeObserver(() => this.apply()).observe(canvas)
  }

  private zoomTo(scale: number | null): void {
    this.scale = scale === null ? null : Math.min(LARGEST, Math.max(SMALLEST, scale))
    this.apply()
  }

  private current(): number {
    return this.scale ?? this.fitting()
  }

  /** The scale at which the picture fills its place. Letters never shrink for that: rather scroll. */
  private fitting(): number {
    const width = this.size()?.width ?? 0
    if (width === 0 || this.canvas.clientWidth === 0) return 1
    return Math.min(LARGEST_FIT, Math.max(1, this.canvas.clientWidth / width))
  }

  private size(): DOMRect | null {
    return this.canvas.querySelector('svg')?.viewBox.baseVal ?? null
  }

  /** To be called when the picture was drawn anew. */
  apply(): void {
    const svg = this.canvas.querySelector('svg')
    const size = this.size()
    if (!svg || !size || this.canvas.clientWidth === 0) return
    const scale = this.current()
    svg.setAttribute('width', String(Math.floor(size.width * scale)))
    svg.setAttribute('height', String(Math.floor(size.height * scale)))
    this.hint.hidden = this.canvas.scrollWidth <= this.canvas.clientWidth + 1
  }
}
