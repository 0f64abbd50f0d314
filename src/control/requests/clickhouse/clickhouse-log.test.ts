import type { ServerResponse } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import {
  type Answer,
  fail,
  isInsert,
  send,
  startFakeClickHouse,
} from '../../../../test/control/fake-clickhouse.ts';
import { createRequestWriter, requestEntry } from '../../../../test/control/request-writer-fixture.ts';
import { temporaryFolder } from '../../../../test/service/program.ts';
import type { Store } from '../../database/store.ts';
import { ClickHouseLog, type clickHouseLogOptions } from './clickhouse-log.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Opens a log whose server answers as given. */
async function openLog(answer: Answer, options: Partial<typeof clickHouseLogOptions> = {}) {
  const server = await startFakeClickHouse(answer);
  const logStore = new ClickHouseLog(server.url, temporaryFolder('log-journal'), options);
  cleanUps.push(server.close, () => logStore.stop());
  return { logStore, ...createRequestWriter({} as Store, {}, logStore) };
}

it('keeps a large batch of which the server rejects all rows, and drops a few that it rejects', async () => {
  let rejected = /./;
  const { logStore, log, writer } = await openLog((statement, response, _, rows) => {
    if (isInsert(statement) && rejected.test(rows)) return fail(response, 27);
    send(response);
  });
  log.push(...Array.from({ length: 299 }, () => requestEntry()), requestEntry({ method: 'getInvalid' }));
  await writer.flush();
  await logStore.flush();
  expect([logStore.isFailing, logStore.losses.rejected, logStore.waiting]).toEqual([true, 0, 300]);
  rejected = /getInvalid/;
  await logStore.flush();
  expect([logStore.isFailing, logStore.losses.rejected, logStore.waiting]).toEqual([false, 1, 0]);
});

it('keeps rows that something else than the server confirms, until the server has them', async () => {
  let isServer = false;
  const { logStore, log, writer } = await openLog((_, response) => {
    if (isServer) send(response);
    else response.end('<html>Sign in</html>');
  });
  log.push(requestEntry());
  await writer.flush();
  await logStore.flush();
  expect([logStore.waiting, logStore.isFailing]).toEqual([1, true]);
  isServer = true;
  await logStore.flush();
  expect([logStore.waiting, logStore.isFailing]).toEqual([0, false]);
});

it('inserts while searches occupy their connections; the server ends searches in time', async () => {
  const held: ServerResponse[] = [];
  const limits = new Set<string | null>();
  const { logStore, log, writer } = await openLog((statement, response, settings) => {
    if (!statement.startsWith('select customer_id')) return send(response);
    held.push(response);
    limits.add(settings.get('max_execution_time'));
  });
  const search = () => logStore.list('anna', { from: 0, to: Date.now() }, 10, null);
  const searches = Array.from({ length: 9 }, search);
  await expect.poll(() => held.length).toBe(8);
  log.push(requestEntry());
  await writer.flush();
  await logStore.flush();
  const unanswered = held.filter(({ destroyed }) => !destroyed);
  expect([logStore.waiting, unanswered.length, limits]).toEqual([0, 8, new Set(['10'])]);
  const ended = Promise.allSettled(searches);
  const endAll = setInterval(() => held.splice(0).forEach((response) => void fail(response, 159)), 10);
  cleanUps.push(() => clearInterval(endAll));
  for (const result of await ended) expect(result).toMatchObject({ reason: { status: 503 } });
});

it('reports that entries of deleted customers cannot be deleted', async () => {
  let isAway = true;
  let reason = 'no space left';
  const states: string[] = [];
  const onDeletionState = (error: unknown) => void states.push(error === null ? 'works' : String(error));
  const { logStore } = await openLog(
    (statement, response) => {
      if (isAway) fail(response, 999);
      else if (statement.includes('system.mutations')) send(response, [{ latest_fail_reason: reason }]);
      else send(response, [{ rows: 1 }]);
    },
    { onDeletionState },
  );
  await logStore.deleteCustomers(['anna']);
  isAway = false;
  reason = '';
  await logStore.deleteCustomers(['anna']);
  reason = 'no space left';
  await logStore.deleteCustomers(['anna']);
  expect(states).toEqual([
    expect.stringContaining('it failed'),
    'works',
    expect.stringContaining('no space left'),
  ]);
});
