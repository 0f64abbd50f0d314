import { expect, it } from 'vitest';
import { postgresPrograms, startPostgres } from '../control/postgres-server.ts';
import { type KillReport, killLoop } from './kill-loop.ts';

const load = { flushMs: 100, concurrency: 8, loadMs: 300, kills: 1 };

/** Checks that hold at any speed: some usage is stored, and none is counted that was not sent. */
function expectConsistent({ answered, unanswered, counted, keys, accounts, lost }: KillReport): void {
  expect(counted).toBeGreaterThan(0);
  expect(counted).toBeLessThanOrEqual(answered + unanswered);
  expect([keys > 0, accounts > 0, lost]).toEqual([true, true, []]);
}

// `npm run kill:gateway` compares the loss with the flush interval over many kills and both databases.
it('a gateway killed under load counts no call twice, and loses no acknowledged key or account', async () => {
  for (const report of await killLoop({ ...load, outageEvery: 2, postgres: null })) expectConsistent(report);
}, 120_000);

it.skipIf(postgresPrograms === null)(
  'a gateway stores usage on disk during an outage of PostgreSQL (skipped if not installed)',
  async () => {
    // The outage is longer than the bound, so usage that waited for the database would be lost for longer.
    const [outageMs, boundMs] = [3_000, 2_000];
    const postgres = await startPostgres(postgresPrograms!);
    try {
      for (const report of await killLoop({ ...load, outageEvery: 1, outageMs, postgres })) {
        expectConsistent(report);
        expect(report.lossMs).toBeLessThan(boundMs);
      }
    } finally {
      await postgres.destroy();
    }
  },
  120_000,
);
