import { expect, it } from 'vitest';
import { stopEach } from './stop-each.ts';

it('stops all in order despite failures, and throws the first one', async () => {
  const done: string[] = [];
  const stop =
    (name: string, fails = false) =>
    async () => {
      done.push(name);
      if (fails) throw new Error(`${name} failed`);
    };
  const all = [stop('server'), stop('nodes', true), stop('usage', true), stop('store')];
  await expect(stopEach(all)).rejects.toThrow('nodes failed');
  expect(done).toEqual(['server', 'nodes', 'usage', 'store']);
  await expect(stopEach([stop('alone')])).resolves.toBeUndefined();
});
