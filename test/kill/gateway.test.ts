import { expect, it } from 'vitest';
import { postgresPrograms, startPostgres } from '../control/postgres-server.ts';
import { type KillReport, killLoop } from './kill-loop.ts';

const load = { flushMs: 100, concurrency: 8, loadMs: 300, kills: 1 };

/** What holds on any machine, however slow: what was written stays, and nothing is there that was not called. */
function expectNothingMadeUp({ answered, unanswered, counted, keys, accounts, lost }: KillReport): void {
  expect(counted).toBeGreaterThan(0);
  expect(counted).toBeLessThanOrEqual(answered + unanswered);
  expect([keys > 0, accounts > 0, lost]).toEqual([true, true, []]);
}

// `npm run kill:gateway` holds the loss against the flush interval, over many kills, on both databases.
it('counts what a gateway answered that is killed under load once, and keeps the keys and accounts it made', async () => {
  for (const report of await killLoop({ ...load, awayEvery: 2, postgres: null })) expectNothingMadeUp(report);
}, 120_000);

it.skipIf(postgresPrograms === null)(
  'has on its disk what it answered while PostgreSQL was away (skipped where it is not installed)',
  async () => {
    // The database is away for longer than the bound, so that what only waited for it would break the bound; the bound
    // is that of 20 flushes, so that a busy machine keeps it.
    const [awayMs, boundMs] = [3_000, 2_000];
    const postgres = await startPostgres(postgresPrograms!);
    try {
      for (const report of await killLoop({ ...load, awayEvery: 1, awayMs, postgres })) {
        expectNothingMadeUp(report);
        expect(report.lossMs).toBeLessThan(boundMs);
      }
    } finally {
      await postgres.destroy();
    }
  },
  120_000,
);
