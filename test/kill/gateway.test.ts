import { expect, it } from 'vitest';
import { killLoop } from './kill-loop.ts';

/**
 * What holds on any machine, however slow: what was written stays, and nothing is there that was not called.
 * `npm run kill:gateway` holds the loss against the flush interval, over many kills, on both databases.
 */
it('counts what a gateway answered that is killed under load once, and keeps the keys and accounts it made', async () => {
  const options = { flushMs: 100, concurrency: 8, loadMs: 300, awayEvery: 2, kills: 1, postgres: null };
  for (const { answered, unanswered, counted, keys, accounts, lost } of await killLoop(options)) {
    expect(counted).toBeGreaterThan(0);
    expect(counted).toBeLessThanOrEqual(answered + unanswered);
    expect([keys > 0, accounts > 0, lost]).toEqual([true, true, []]);
  }
}, 120_000);
