import { describe, expect, it } from 'vitest'
import { Catalog } from '../../../src/application/observe/catalog.ts'

describe('Catalog', () => {
  it('says nothing of a function before the server has', async () => {
    const catalog = new Catalog(() => {})
    let answer: (rows: string[][]) => void = () => {}
    const asked = catalog.askFunctions(['sum', 'nosuch'], () => {
      return new Promise((resolve) => {
        answer = resolve
      })
    })
    // Another connection that took it for a plain one would ask for columns beside a sum.
    expect(catalog.traitsOf('sum')).toBeUndefined()
    answer([['sum', 't', 'f', 'f', 'f', 'f']])
    await asked
    expect(catalog.traitsOf('sum')).toMatchObject({ aggregate: true, does: 'nothing' })
    expect(catalog.traitsOf('nosuch')).toMatchObject({ aggregate: false })
  })

  it('forgets an answer that came after a change of tables', async () => {
    const catalog = new Catalog(() => {})
    await catalog.askFunctions(['sum'], async () => {
      catalog.forget()
      return [['sum', 't', 'f', 'f', 'f', 'f']]
    })
    expect(catalog.traitsOf('sum')).toBeUndefined()
  })
})
