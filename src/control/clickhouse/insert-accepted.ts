import { isRejectedRow } from './client.ts';

/** Rejected parts of a batch that are halved to find the invalid rows. */
const HALVINGS_MAX = 64;

/** Inserts rows, and halves rejected parts until only the invalid rows are left. @returns the rows not inserted. */
export async function insertAccepted<Row>(
  rows: readonly Row[],
  insert: (part: readonly Row[]) => Promise<void>,
): Promise<Row[]> {
  const rejected: Row[] = [];
  const parts = rows.length === 0 ? [] : [rows];
  let halvings = 0;
  // By size, so that the parts that are rejected whole are small.
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    try {
      await insert(part);
    } catch (error) {
      if (!isRejectedRow(error)) throw error;
      if (part.length === 1 || halvings === HALVINGS_MAX) {
        rejected.push(...part);
        continue;
      }
      halvings++;
      const half = part.length >> 1;
      parts.push(part.slice(0, half), part.slice(half));
    }
  }
  return rejected;
}
