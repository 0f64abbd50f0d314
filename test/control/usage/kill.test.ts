import { afterAll, describe, expect, it } from 'vitest';
import { type PostgresServer, postgresPrograms, startPostgres } from '../postgres-server.ts';
import { type KillReport, killLoop } from './kill-loop.ts';

/**
 * What holds on any machine, however slow: nothing is there that was not called, and what was answered long before the
 * kill is there. `npm run kill:usage` holds the loss against the flush interval, over many kills.
 */
function expectWhole(reports: readonly KillReport[]): void {
  for (const { answered, unanswered, counted, lossMs } of reports) {
    expect(counted).toBeLessThanOrEqual(answered + unanswered);
    expect(lossMs).toBeLessThan(5_000);
  }
}

/** Starting a gateway three times takes a busy machine a while. */
const TIMEOUT_MS = 180_000;
const options = { flushMs: 100, concurrency: 8, loadMs: 500, awayEvery: 2 };
let server: PostgresServer | null = null;
afterAll(() => server?.destroy());

describe('usage of a gateway that is killed under load', () => {
  it(
    'is the load as it was, but for its last moment, on the embedded database',
    async () => {
      expectWhole(await killLoop({ ...options, kills: 1, postgres: null }));
    },
    TIMEOUT_MS,
  );

  it.skipIf(postgresPrograms === null)(
    'is so on PostgreSQL, too, which is away at one of the kills (skipped where it is not installed)',
    async () => {
      server = await startPostgres(postgresPrograms!);
      expectWhole(await killLoop({ ...options, kills: 2, postgres: server }));
    },
    TIMEOUT_MS,
  );
});
