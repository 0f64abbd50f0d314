import { expect, it } from 'vitest';
import { insertAccepted } from './insert-accepted.ts';

const rejection = Object.assign(new Error('Cannot parse'), { code: '27' });

/** Inserts the rows from 0 to `count` into a table that rejects some. */
async function insertRows(count: number, isValid: (row: number) => boolean) {
  const stored: number[] = [];
  let inserts = 0;
  const rows = Array.from({ length: count }, (_, row) => row);
  const { rejected, error } = await insertAccepted(rows, async (part) => {
    inserts++;
    if (!part.every(isValid)) throw rejection;
    stored.push(...part);
  });
  expect([...stored, ...rejected].toSorted((one, other) => one - other)).toEqual(rows);
  return { rejected: rejected.toSorted((one, other) => one - other), error, inserts };
}

it('inserts all rows but the invalid ones, and returns the reason', async () => {
  expect(await insertRows(5_000, () => true)).toEqual({ rejected: [], error: null, inserts: 1 });
  expect(await insertRows(5_000, (row) => row !== 17 && row !== 4_000)).toMatchObject({
    ...{ rejected: [17, 4_000], error: rejection },
  });
  expect(await insertRows(3, () => false)).toEqual({ rejected: [0, 1, 2], error: rejection, inserts: 5 });
  expect(await insertRows(1, () => false)).toEqual({ rejected: [0], error: rejection, inserts: 1 });
});

it('gives up after a few inserts if the server rejects every row', async () => {
  const { rejected, inserts } = await insertRows(5_000, () => false);
  expect([rejected.length, inserts]).toEqual([5_000, 9]);
});

it('throws other errors', async () => {
  const error = new Error('Timeout error.');
  await expect(insertAccepted([1, 2], () => Promise.reject(error))).rejects.toBe(error);
});
