import { expect, it } from 'vitest';
import { postgresPrograms, sharedPostgres } from '../control/postgres-server.ts';
import { killLoop } from './kill-loop.ts';

const load = { flushMs: 100, concurrency: 8, loadMs: 300, kills: 1 };

/** Longer than the maximum loss, so usage that waited for the database would be lost for longer. */
const OUTAGE_MS = 3_000;
const LOSS_MAX_MS = 2_000;

it('a gateway killed under load and an outage of PostgreSQL, if installed, loses no acknowledged data', async () => {
  const postgres = postgresPrograms === null ? null : await sharedPostgres();
  const reports = await killLoop({ ...load, outageMs: OUTAGE_MS, postgres });
  for (const { answered, unanswered, counted, keys, accounts, lost, lossMs } of reports) {
    expect(counted).toBeGreaterThan(0);
    expect(counted).toBeLessThanOrEqual(answered + unanswered);
    expect([keys > 0, accounts > 0, lost]).toEqual([true, true, []]);
    if (postgres !== null) expect(lossMs).toBeLessThan(LOSS_MAX_MS);
  }
}, 120_000);
