// Names that try to break out of every output there is.

export const HOSTILE_NAMES: readonly string[] = [
  '</script><script>globalThis.broken=1</script>',
  '<img src=x onerror="globalThis.broken=1">',
  '"><svg onload=globalThis.broken=1>',
  "'; DROP TABLE t; --",
  ']]></failure><failure>',
  '"];t1->t2[URL="javascript:1"];//',
  '`*[x](javascript:1)*` | @everyone <!-- -->',
  '"]; click t1 call broken() %%{init: {}}%%',
  '\u0000\u0007\u001b[31m\u202eabc\u2028\ufeff\ufffe',
  '```\n# heading\n```',
  '--><style>*{display:none}</style>',
  '&lt;&#60;&amp;',
  '{{constructor.constructor("globalThis.broken=1")()}}',
  '😀 漢字 ñ',
  'x'.repeat(3000),
]

/** Two transactions that lose an update, and a third; every name in it is the one given. */
export function hostileHistory(name: string): string {
  const text = JSON.stringify(name)
  const other = JSON.stringify(`${name}2`)
  return [
    `${text}: r(${text},null) w(${text},${text}) [id=${text}]`,
    `${other}: r(${text},null) w(${text},${other}) [id=${other}]`,
    `s3: r(${text},${text}) [id="third"]`,
  ]
    .join('\n')
    .replace(/^/, 'initial null\n')
}
