// Text from the input, fit to be shown.

/** Control and other invisible characters as escapes, so that no terminal obeys them. */
export function escapeInvisible(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
