import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, type Dispatcher } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/control/database/open.ts';
import { runHere } from '../cli/run-solway.ts';
import { readMetrics } from '../observing/metrics-text.ts';
import { eventually } from '../service/eventually.ts';
import { type OperatorApi, operatorApi } from '../service/operator-token.ts';
import { isRunning } from '../service/program.ts';
import { rawSocket } from '../service/raw-socket.ts';
import { type RunningService, startService } from '../service/start-service.ts';
import { healthy } from '../upstream/mock/behaviors.ts';
import { type Behaviour, type MockNode, send, startMock } from '../upstream/mock/server.ts';
import { RequestLoad, TEST_PAUSE_MS } from './request-load.ts';

/** Burst limit in the plan of the first key. */
const BURST = 40;
const REVOKED_WITHIN_MS = 1_000;
const START_MS = 120_000;
let mock: MockNode;
let service: RunningService;
let api: OperatorApi;
let clients: Client[] = [];

beforeAll(async () => {
  mock = await startMock(healthy());
  service = await startService({
    arguments: ['--workers', '2'],
    ownGroup: true,
    timeoutMs: START_MS,
    // Caching is off, so that every accepted call reaches the node.
    configuration: `
      [cache]
      enabled = false
      coalesce = false
      slot_cache = false
      [grpc]
      enabled = false
      [metrics]
      open = true
      [internal.shared]
      sync_interval_ms = 20
      [plans.default]
      rpc_per_second = 1
      rpc_burst = ${BURST}
      [plans.any]
      rpc_per_second = 0
      [[upstream]]
      url = "${mock.url}"
      ws = "off"
    `,
  });
  api = await operatorApi(service.ready.url, service.dataDir);
  // The primary assigns connections round-robin.
  clients = [1, 2].map(() => new Client(service.ready.url, { pipelining: 1 }));
}, START_MS);
afterAll(async () => {
  await Promise.all(clients.map((client) => client.destroy()));
  await service?.stop('SIGKILL');
  await mock?.close();
});

function post(client: Client | undefined, key: string, rpcCall: object): Promise<Dispatcher.ResponseData> {
  if (client === undefined) throw new Error('there is no such connection');
  return client.request({
    method: 'POST',
    path: '/v1/rpc',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...rpcCall }),
  });
}

/** @returns the HTTP status. */
async function call(client: Client | undefined, key: string, method = 'getHealth'): Promise<number> {
  const { statusCode, body } = await post(client, key, { method });
  await body.dump();
  return statusCode;
}

/** The REST timeout in effect in each worker. */
const timeouts = (): Promise<number[]> =>
  Promise.all(
    clients.map(async (client) => {
      const headers = { authorization: `Bearer ${api.secret}` };
      const { body } = await client.request({ method: 'GET', path: '/api/v1/settings', headers });
      const shown = (await body.json()) as Readonly<{ configuration: { rest: { timeout_ms: number } } }>;
      return shown.configuration.rest.timeout_ms;
    }),
  );

async function slotOf(client: Client | undefined, key: string): Promise<number | undefined> {
  const read = { method: 'getBalance', params: ['11111111111111111111111111111111'] };
  const { body } = await post(client, key, read);
  const { result } = (await body.json()) as { result?: { context: { slot: number } } };
  return result?.context.slot;
}

/** Responds to successive reads with these slots. */
const readsOf =
  (slots: number[]): Behaviour =>
  ({ id, method }, reply) => {
    const result = method === 'getBalance' ? `{"context":{"slot":${slots.shift() ?? 0}},"value":1}` : '1000';
    send(reply, `{"jsonrpc":"2.0","result":${result},"id":${id}}`);
  };

async function createKey(more = {}): Promise<Readonly<{ secret: string; key: Readonly<{ id: string }> }>> {
  const created = await api.sendRequest<Readonly<{ secret: string; key: Readonly<{ id: string }> }>>(
    'POST',
    '/customers/house/keys',
    { product: 'rpc', name: 'of the test', planId: 'any', ...more },
  );
  for (const client of clients)
    await eventually(async () => (await call(client, created.secret)) === 200, 'the key is accepted');
  return created;
}

async function metric(name: string): Promise<ReadonlyMap<string, number>> {
  const page = await (await fetch(`${service.ready.url}/metrics`)).text();
  const samples = readMetrics(page).get(name)?.samples ?? [];
  return new Map(samples.map(({ labels, value }) => [Object.values(labels).join(' '), value]));
}

/** Waits until workers have restarted this many times in total and both are ready. */
async function restarted(times: number): Promise<void> {
  const hasValue = async (name: string, wanted: number): Promise<boolean> =>
    (await metric(name).catch(() => null))?.get('') === wanted;
  await eventually(() => hasValue('solway_worker_restarts_total', times), 'a worker restarts');
  await eventually(() => hasValue('solway_workers_ready', 2), 'both workers are ready');
}

const processes = (): number[] => {
  const { pid } = service.process;
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
};

async function requestsOf(keyId: string): Promise<number> {
  const store = await openDatabase({ file: join(service.dataDir, 'solway.db') });
  const { total } = await store.db
    .selectFrom('usage_minute')
    .select(({ fn }) => fn.sum<number>('requests').as('total'))
    .where('key_id', '=', keyId)
    .executeTakeFirstOrThrow();
  await store.close();
  return Number(total);
}

describe('a service of two workers', () => {
  it('serves one port with both workers, and adds up their metrics and usage', async () => {
    const { secret, key } = await createKey();
    const before = await metric('solway_key_requests_total');
    for (let i = 0; i < 10; i++) for (const client of clients) expect(await call(client, secret)).toBe(200);
    const after = await metric('solway_key_requests_total');
    const more = [1, 2].map((worker) => {
      const name = `${worker} ${key.id} ok`;
      return (after.get(name) ?? 0) - (before.get(name) ?? 0);
    });
    expect(more).toEqual([10, 10]);
    const all = [1, 2].reduce((sum, worker) => sum + (after.get(`${worker} ${key.id} ok`) ?? 0), 0);
    await eventually(async () => (await requestsOf(key.id)) === all, 'usage adds up');
    expect(await metric('solway_workers_ready')).toEqual(new Map([['', 2]]));
  });

  it('keeps reads of a key monotonic across workers', async () => {
    const { secret } = await createKey({ neverBack: true });
    const slots = [1_005, 1_002, 1_006];
    mock.become(readsOf(slots));
    const [one, other] = clients;
    expect([await slotOf(one, secret), await slotOf(other, secret), slots]).toEqual([1_005, 1_006, []]);
    mock.become(healthy());
  });

  it('applies the rate limit of a key across workers', async () => {
    const [one, other] = clients;
    for (let i = 0; i < BURST; i++) expect(await call(one, service.key)).toBe(200);
    let passed = 0;
    // The second worker alone would allow as many again.
    while ((await call(other, service.key)) === 200) passed++;
    expect(passed).toBeLessThan(BURST);
    expect(await call(one, service.key)).toBe(429);
  });

  it('rejects a revoked key in both workers', async () => {
    const { secret, key } = await createKey();
    await api.sendRequest('POST', `/customers/house/keys/${key.id}/revoke`);
    const bound = { timeoutMs: REVOKED_WITHIN_MS };
    for (const client of clients) {
      await eventually(async () => (await call(client, secret)) === 403, 'the key is rejected', bound);
    }
  });

  it('reloads its configuration in both workers', async () => {
    const changed = readFileSync(service.config, 'utf8').replace(
      '[metrics]',
      '[rest]\ntimeout_ms = 130000\n[metrics]',
    );
    writeFileSync(service.config, changed);
    expect(await api.sendRequest('POST', '/reload')).toEqual({ changed: ['rest.timeout_ms'], restart: [] });
    expect(await timeouts()).toEqual([130_000, 130_000]);
    writeFileSync(service.config, changed.replace('130000', '5'));
    expect(await runHere(service.dataDir, ['reload', '--data-dir', service.dataDir])).toMatchObject({
      code: 1,
      err: expect.stringContaining('rest.timeout_ms'),
    });
    expect(await timeouts()).toEqual([130_000, 130_000]);
  });

  it('continues when a worker is killed, and restarts it', async () => {
    const { secret } = await createKey();
    const load = new RequestLoad(service.ready.rpcUrl, secret, 8, false, TEST_PAUSE_MS);
    await load.answered(50);
    const before = processes();
    process.kill(before.at(-1) ?? 0, 'SIGKILL');
    await load.answered(50);
    await restarted(1);
    await load.answered(50);
    const { failed } = await load.stop();
    // In-flight requests of the killed worker are aborted; no others fail.
    const cut = /ECONNRESET|EPIPE|other side closed/;
    expect(failed.filter((why) => !cut.test(why))).toEqual([]);
    expect(processes()).toHaveLength(2);
  });

  it('closes connections assigned to a worker that has died', async () => {
    const [pid = 0] = processes();
    process.kill(pid, 'SIGSTOP');
    const sockets = await Promise.all([1, 2].map(() => rawSocket(service.ready.url)));
    for (const { write } of sockets) write('GET /health HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    const answers = sockets.map(({ closed }) => closed);
    expect(await Promise.race(answers)).toContain('200 OK');
    process.kill(pid, 'SIGKILL');
    expect((await Promise.all(answers)).map((answer) => answer.split('\r\n')[0]).sort()).toEqual([
      '',
      'HTTP/1.1 200 OK',
    ]);
    await restarted(2);
  });

  it('leaves no process running after Ctrl-C in a terminal', async () => {
    const before = processes();
    const ended = once(service.process, 'close');
    process.kill(-(service.process.pid ?? 0), 'SIGINT');
    expect(await ended).toEqual([0, null]);
    expect(before.filter(isRunning)).toEqual([]);
    expect(service.output().match(/"msg":"Stopped"/g)).toHaveLength(3);
  });
});
