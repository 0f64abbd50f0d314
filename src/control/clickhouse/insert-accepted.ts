import { isRejectedRow } from './client.ts';

/** Maximum number of rejected parts that are split. */
const SPLITS_MAX = 64;
/** Random rows of a large rejected batch that are tried first. */
const SAMPLES_MAX = 8;

/** The rows of a batch that were not inserted, and the last error; null: none. */
export type InsertResult<Row> = Readonly<{ rejected: Row[]; error: unknown }>;

/**
 * Inserts rows, and halves rejected parts until only the invalid rows are left. If none of the samples of a large batch
 * is accepted, all its rows count as rejected.
 */
export async function insertAccepted<Row>(
  rows: readonly Row[],
  insert: (part: readonly Row[]) => Promise<void>,
): Promise<InsertResult<Row>> {
  let error: unknown = null;
  const isAccepted = async (part: readonly Row[]): Promise<boolean> => {
    try {
      await insert(part);
      return true;
    } catch (thrown) {
      if (!isRejectedRow(thrown)) throw thrown;
      error = thrown;
      return false;
    }
  };
  if (rows.length === 0 || (await isAccepted(rows))) return { rejected: [], error };
  if (rows.length === 1) return { rejected: [...rows], error };
  let valid: Row | undefined;
  for (let sample = 0; rows.length > SPLITS_MAX && valid === undefined; sample++) {
    if (sample === SAMPLES_MAX) return { rejected: [...rows], error };
    const row = rows[Math.floor(Math.random() * rows.length)]!;
    if (await isAccepted([row])) valid = row;
  }
  const rejected: Row[] = [];
  const parts = split(rows.filter((row) => row !== valid));
  // By size, so that the parts that are rejected whole are small.
  for (let part = parts.shift(), splits = 1; part !== undefined; part = parts.shift()) {
    if (await isAccepted(part)) continue;
    if (part.length > 1 && splits++ < SPLITS_MAX) parts.push(...split(part));
    else rejected.push(...part);
  }
  return { rejected, error };
}

function split<Row>(rows: readonly Row[]): (readonly Row[])[] {
  const half = rows.length >> 1;
  return [rows.slice(0, half), rows.slice(half)];
}
