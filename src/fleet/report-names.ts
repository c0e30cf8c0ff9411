// The names of the files of a report, apart from what makes them, which takes a large library. Main
// function: pageOf.

/** All that a report may have: a directory with others is not replaced. */
export const REPORT_FILES =
  /^(index\.html|finding-[0-9a-f]+\.(html|txt|history\.gz)|junit\.xml|summary\.md)$/

/** Where the page of a finding is, from the first page. */
export function pageOf(fingerprint: string): string {
  return `finding-${fingerprint}.html`
}
