// A transaction on a connection of its own: committed, or rolled back if anything goes wrong.

export async function transaction(pool, work, begin = 'BEGIN') {
  const client = await pool.connect()
  try {
    await client.query(begin)
    const result = await work(client)
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
}

/** At SERIALIZABLE the database refuses whoever would break the rules: they try again. */
export async function serializable(pool, work) {
  for (;;) {
    try {
      return await transaction(pool, work, 'BEGIN ISOLATION LEVEL SERIALIZABLE')
    } catch (error) {
      if (error.code !== '40001' && error.code !== '40P01') throw error
    }
  }
}
