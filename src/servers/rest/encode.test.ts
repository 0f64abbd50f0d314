import { expect, it } from 'vitest';
import { parseJson, writeJson } from '../../base/json.ts';
import { envelope } from './encode.ts';

const text = async (result: Parameters<typeof envelope>[0]['result']) =>
  String(await envelope({ message: 'so', result }));

it.each([[[]], [[1]], [['a', null, 'z', { b: [] }]], [{ a: 1 }], [null]])(
  'writes %j as the result',
  async (result) => {
    expect(await text(result)).toBe(`{"success":true,"message":"so","result":${writeJson(result)}}`);
  },
);

it('lets others have their turn while it writes a long list', async () => {
  const result = Array.from({ length: 100 }, () => 'x'.repeat(100_000));
  let turns = 0;
  const turn = () => {
    turns++;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  const written = await text(result);
  clearImmediate(next);
  expect(parseJson(written)).toEqual({ success: true, message: 'so', result });
  expect(turns).toBeGreaterThan(20);
});
