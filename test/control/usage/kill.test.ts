import { expect, it } from 'vitest';
import { killLoop } from './kill-loop.ts';

/**
 * What holds on any machine, however slow: what was written stays, and nothing is there that was not called.
 * `npm run kill:usage` holds the loss against the flush interval, over many kills, on both databases.
 */
it('counts what a gateway answered that is killed under load, once', async () => {
  const options = { flushMs: 100, concurrency: 8, loadMs: 300, awayEvery: 2, kills: 1, postgres: null };
  for (const { answered, unanswered, counted } of await killLoop(options)) {
    expect(counted).toBeGreaterThan(0);
    expect(counted).toBeLessThanOrEqual(answered + unanswered);
  }
}, 120_000);
