import { expect, it } from 'vitest'
import { productOf } from '../../../src/record/postgres/database.ts'

it.each([
  ['PostgreSQL 18.4 on x86_64-linux-gnu, compiled by gcc, 64-bit', 'PostgreSQL 18.4'],
  ['PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu', 'PostgreSQL 15.18'],
  [
    'PostgreSQL 11.2-YB-2.25.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang',
    'YugabyteDB 2.25.0.0-b0',
  ],
  ['CockroachDB CCL v24.3.1 (x86_64-pc-linux-gnu, built 2024/12/05)', 'CockroachDB 24.3.1'],
  ['CockroachDB OSS v22.2.0 (x86_64-pc-linux-gnu)', 'CockroachDB 22.2.0'],
  ['something else', 'something else'],
])('knows %s', (version, product) => {
  expect(productOf(version)).toBe(product)
})
