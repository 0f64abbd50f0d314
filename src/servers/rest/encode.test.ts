import { expect, it } from 'vitest';
import { parseJson, writeJson } from '../../base/json.ts';
import { envelope } from './encode.ts';

const encode = async (result: Parameters<typeof envelope>[0]['result']) =>
  String(await envelope({ message: 'so', result }));

it.each([[[]], [[1]], [['a', null, 'z', { b: [] }]], [{ a: 1 }], [null]])(
  'writes %j as the result',
  async (result) => {
    expect(await encode(result)).toBe(`{"success":true,"message":"so","result":${writeJson(result)}}`);
  },
);

it('yields to the event loop while it writes a long list', async () => {
  const result = Array.from({ length: 100 }, () => 'x'.repeat(100_000));
  let turns = 0;
  const turn = () => {
    turns++;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  const written = await encode(result);
  clearImmediate(next);
  expect(parseJson(written)).toEqual({ success: true, message: 'so', result });
  expect(turns).toBeGreaterThan(20);
});
