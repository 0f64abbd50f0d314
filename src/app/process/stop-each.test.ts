import { expect, it } from 'vitest';
import { stopEach } from './stop-each.ts';

it('stops each in order although one fails, and tells the first failure at the end', async () => {
  const done: string[] = [];
  const stop =
    (name: string, fails = false) =>
    async () => {
      done.push(name);
      if (fails) throw new Error(`${name} failed`);
    };
  const all = [stop('door'), stop('nodes', true), stop('usage', true), stop('store')];
  await expect(stopEach(all)).rejects.toThrow('nodes failed');
  expect(done).toEqual(['door', 'nodes', 'usage', 'store']);
  await expect(stopEach([stop('alone')])).resolves.toBeUndefined();
});
