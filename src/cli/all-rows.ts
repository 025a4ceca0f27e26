/** Array.fromAsync, which Node 20 lacks. */
export async function rowsOf<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const all: Row[] = []
  for await (const row of rows) all.push(row)
  return all
}
