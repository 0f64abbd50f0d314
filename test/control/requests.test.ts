import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { ApiContext } from '../../src/control/api/handler.ts';
import { logHandlers } from '../../src/control/api/handlers/logs.ts';
import { upstreamHandlers } from '../../src/control/api/handlers/nodes.ts';
import type { ApiServices } from '../../src/control/api/services.ts';
import type { Store } from '../../src/control/database/store.ts';
import { transact } from '../../src/control/database/transaction.ts';
import { ClickHouseLog } from '../../src/control/requests/clickhouse/clickhouse-log.ts';
import type { NodeCordon } from '../../src/control/requests/gateway-heartbeat.ts';
import { GatewayHeartbeat, type GatewayHooks } from '../../src/control/requests/gateway-heartbeat.ts';
import { LogRetention } from '../../src/control/requests/log-retention.ts';
import {
  createSearch,
  entriesOf,
  type LogSearch,
  searchSteps,
} from '../../src/control/requests/log-search.ts';
import type { LogStore } from '../../src/control/requests/log-store.ts';
import { LogTails } from '../../src/control/requests/log-tails.ts';
import { SqlLog } from '../../src/control/requests/sql-log.ts';
import type { ConnectionInfo } from '../../src/gateway/telemetry/live-connections.ts';
import type { RequestEntry } from '../../src/gateway/telemetry/request-log.ts';
import type { Submission } from '../../src/gateway/telemetry/submission-log.ts';
import { dispatcherOf } from '../upstream/mock/dispatcher.ts';
import { describeOnClickHouse } from './clickhouse-server.ts';
import {
  connectionInfo,
  createRequestWriter,
  LOGGED_AT,
  requestEntry,
  submissionOf,
} from './request-writer-fixture.ts';
import { describeOnBothStores } from './stores.ts';
import { addKeys } from './usage/usage-fixture.ts';

const HOUR_MS = 3_600_000;
const NOW = LOGGED_AT;
const entry = requestEntry;
const submission = submissionOf;
const facts = connectionInfo;

const context = { actor: 'user:op@example.com', address: '192.0.2.9', userAgent: 'test', requestId: 'r1' };

function apiOn(store: Store, more: Partial<ApiServices> = {}, role: ApiContext['role'] = 'operator') {
  const services = { store, now: () => NOW + 1_000, source: null, ...more } as unknown as ApiServices;
  const handlers = { ...logHandlers(services), ...upstreamHandlers(services) };
  const requested = { ...context, role, signal: new AbortController().signal } as unknown as ApiContext;
  return { handlers, requested };
}

const path = { customer: 'anna' };

type OpenLog = Readonly<{ store: Store; logStore: LogStore; services: Partial<ApiServices> }>;

/** @param open - opens an empty log. */
function logTests(open: () => Promise<OpenLog>): void {
  const listed = async ({ store, services }: OpenLog, query: object = {}) => {
    const { handlers, requested } = apiOn(store, services);
    const whole = { limit: 100, ...query };
    return handlers['GET /customers/{customer}/logs']({ path, query: whole, body: null }, requested);
  };
  const write = async ({ store, logStore }: OpenLog, ...entries: RequestEntry[]) => {
    const { log, writer } = createRequestWriter(store, {}, logStore);
    log.push(...entries);
    await writer.flush();
    if (logStore instanceof ClickHouseLog) await logStore.flush();
  };

  it('returns its entries unchanged, newest first, and those of one customer only', async () => {
    const log = await open();
    await write(log, entry(), entry({ at: NOW + 5, method: 'getSlot' }), entry({ customerId: 'ben' }));
    const { items, sampling } = await listed(log);
    expect(items.map(({ method }) => method)).toEqual(['getSlot', 'getBalance']);
    expect(items[1]).toMatchObject({ ms: 1.5, gateway: 'gateway-1', node: 'node-1', keyName: null, at: NOW });
    expect(sampling).toMatchObject({ keptHours: expect.any(Number) });
    const { handlers, requested } = apiOn(log.store, log.services);
    const one = (customer: string, id: string) =>
      handlers['GET /customers/{customer}/logs/{entry}'](
        { path: { customer, entry: id }, query: null, body: null },
        requested,
      );
    const id = items[1]!.id;
    expect(await one('anna', id)).toMatchObject({
      params: '["x"]',
      steps: [{ node: 'node-1', endMs: 1.25 }],
    });
    await expect(one('ben', id)).rejects.toMatchObject({ status: 404 });
    await expect(one('anna', "' or 1=1")).rejects.toMatchObject({ status: 404 });
  });

  it('can be filtered by every field', async () => {
    const log = await open();
    await write(
      log,
      entry(),
      entry({ method: 'getSlot', keyId: '22222222' as string, micros: 90_000 }),
      entry({ status: 'limited', rpcCode: -32042, product: 'grpc', address: '2001:db8::1' }),
    );
    const count = async (query: object) => (await listed(log, query)).items.length;
    expect(await count({ method: 'getSlot' })).toBe(1);
    expect(await count({ key: '22222222' })).toBe(1);
    expect(await count({ minMs: 90 })).toBe(1);
    expect(await count({ minMs: 90.001 })).toBe(0);
    expect(await count({ status: 'limited' })).toBe(1);
    expect(await count({ rpcCode: -32042 })).toBe(1);
    expect(await count({ product: 'grpc' })).toBe(1);
    expect(await count({ address: '2001:db8::1' })).toBe(1);
    expect(await count({ from: NOW, to: NOW + 1 })).toBe(3);
    expect(await count({ from: NOW + 1 })).toBe(0);
    expect(await count({ from: NOW - 1, to: NOW })).toBe(0);
    await expect(listed(log, { from: 5, to: 5 })).rejects.toMatchObject({ status: 422 });
  });

  it('finds failed requests by code, signature and words of the message, and any by its id', async () => {
    const log = await open();
    const failed = { status: 'rpcError', rpcCode: -32_002 } as const;
    const message = 'Transaction simulation failed: Blockhash not found';
    await write(
      log,
      entry(),
      entry({ ...failed, message, signature: 'SiGnature1' }),
      entry({ ...failed, message: 'Transaction simulation failed: Error processing Instruction 0' }),
      entry({ status: 'limited', failure: 'RATE_LIMITED', rpcCode: -32_043, message: 'Rate limit exceeded' }),
      entry({ ...failed, message, customerId: 'ben' }),
    );
    const found = async (query: object) => (await listed(log, query)).items.map((item) => item.message);
    expect(await found({ search: 'blockhash NOT found' })).toEqual([message]);
    expect(await found({ search: 'transaction' })).toHaveLength(2);
    expect(await found({ search: 'simulation instruction' })).toHaveLength(1);
    expect(await found({ search: 'transaction limit' })).toEqual([]);
    expect(await found({ search: 'SiGnature1' })).toEqual([message]);
    expect(await found({ search: 'rate_limited' })).toHaveLength(1);
    expect(await found({ code: '-32002' })).toHaveLength(2);
    expect(await found({ code: 'RATE_LIMITED' })).toEqual(['Rate limit exceeded']);
    expect(await found({ code: '-32043', search: 'exceeded', key: '7hQ2mKpZ' })).toHaveLength(1);
    expect(await found({ code: '-32002', search: 'exceeded' })).toEqual([]);
    const { items } = await listed(log);
    expect(items.map(({ owner }) => owner).sort()).toEqual(['client', 'node', 'node', null]);
    const byId = await listed(log, { search: items.at(-1)!.id, from: 1, to: 2 });
    expect(byId.items).toEqual([items.at(-1)]);
  });

  it('names nodes to operators only', async () => {
    const log = await open();
    await write(log, entry({ status: 'rpcError' }));
    const { handlers, requested } = apiOn(log.store, log.services, 'owner');
    const given = { path, query: { limit: 5 }, body: null };
    const page = await handlers['GET /customers/{customer}/logs'](given, requested);
    const one = { path: { ...path, entry: page.items[0]!.id }, query: null, body: null };
    const detail = await handlers['GET /customers/{customer}/logs/{entry}'](one, requested);
    expect(detail.steps).toMatchObject([{ name: 'upstream', node: null }]);
    expect(JSON.stringify([page, detail])).not.toContain('node-1');
  });

  it('is paginated without gaps or duplicates', async () => {
    const log = await open();
    await write(log, ...Array.from({ length: 25 }, (_, nth) => entry({ at: NOW + (nth % 3), micros: nth })));
    const seen: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await listed(log, { limit: 7, cursor });
      seen.push(...page.items.map(({ ms }) => ms * 1_000));
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
    expect(seen.map(Math.round).sort((a, b) => a - b)).toEqual(Array.from({ length: 25 }, (_, nth) => nth));
    await expect(listed(log, { cursor: 'x' })).rejects.toMatchObject({ status: 422 });
  });

  it('has a histogram that includes failures', async () => {
    const log = await open();
    const at = [0, 999, 1_000, 59_999].map((ms) => NOW + ms);
    await write(log, ...at.map((ms) => entry({ at: ms })), entry({ at: NOW, status: 'upstream' }));
    const histogramOf = (to: number) => {
      const { handlers, requested } = apiOn(log.store, log.services);
      const given = { path, query: { from: NOW, to: NOW + to }, body: null };
      return handlers['GET /customers/{customer}/logs/histogram'](given, requested);
    };
    const histogram = await histogramOf(60_000);
    expect(histogram.countedFrom).toBe(NOW);
    expect(histogram).toMatchObject({ from: NOW, stepMs: 1_000 });
    expect(histogram.counts).toHaveLength(60);
    expect([histogram.counts[0], histogram.counts[1], histogram.counts[59]]).toEqual([3, 1, 1]);
    expect(histogram.errors.reduce((a, b) => a + b)).toBe(1);
    expect((await histogramOf(10)).counts).toEqual([2]);
  });
}

describeOnClickHouse('the request log', (open) => logTests(open));

describeOnBothStores('the request log', (stores) => {
  logTests(async () => {
    const store = await stores.open();
    return { store, logStore: new SqlLog(store), services: {} };
  });

  it('is searched without gaps or duplicates while entries are written', async () => {
    const store = await stores.open();
    const { log, writer } = createRequestWriter(store);
    const write = async (count: number, at: number): Promise<void> => {
      log.push(...Array.from({ length: count }, (_, nth) => entry({ at: at + nth })));
      await writer.flush();
    };
    await write(1_200, NOW - 1_200);
    const found: string[] = [];
    const readPart = async (part: LogSearch): Promise<boolean> => {
      const rows = await entriesOf(part).select('request_log.id').execute();
      found.push(...rows.map(({ id }) => id));
      await write(10, NOW + found.length);
      return false;
    };
    let before: string | null = null;
    do {
      const search = await createSearch(store, 'anna', { from: 0, to: NOW + HOUR_MS }, before);
      before = await searchSteps(search, readPart);
    } while (before !== null);
    expect([found.length, new Set(found).size]).toEqual([1_200, 1_200]);
  });

  it("reveals nothing of another customer's key, not even in a cursor", async () => {
    const store = await stores.open();
    await addKeys(store, 'ben', { BBBBBBBB: 'default' });
    const { log, writer } = createRequestWriter(store);
    const many = Array.from({ length: 1_000 }, (_, nth) => entry({ at: NOW - nth }));
    log.push(...many.map((one) => ({ ...one, customerId: 'ben', keyId: 'BBBBBBBB' as string })));
    await writer.flush();
    const listed = (customer: string) => {
      const { handlers, requested } = apiOn(store, {}, 'viewer');
      const given = { path: { customer }, query: { limit: 5, key: 'BBBBBBBB' }, body: null };
      return handlers['GET /customers/{customer}/logs'](given, requested);
    };
    expect((await listed('ben')).items).toHaveLength(5);
    expect(await listed('anna')).toMatchObject({ items: [], next: null });
    let parts = 0;
    const search = await createSearch(store, 'anna', { from: 0, to: NOW + 1, key: 'BBBBBBBB' }, null);
    const end = await searchSteps(search, async () => {
      parts += 1;
      return false;
    });
    expect([parts, end]).toEqual([1, null]);
  });

  it('is pruned by age and size, per customer and in total', async () => {
    const store = await stores.open();
    const limits = { retentionHours: 1, customerRowsMax: 5, rowsMax: 8, pruneIntervalMs: 0 };
    const { log, sent, writer } = createRequestWriter(store, limits);
    const now = Date.now() - 60_000;
    log.push(
      entry({ at: now - 2 * HOUR_MS, customerId: 'old' }),
      entry({ at: now - HOUR_MS / 2, customerId: 'old' }),
    );
    const lost = { status: 'upstream', message: 'lost' } as const;
    log.push(...Array.from({ length: 9 }, (_, nth) => entry({ ...lost, at: now + nth })));
    log.push(...Array.from({ length: 4 }, (_, nth) => entry({ ...lost, at: now + nth, customerId: 'ben' })));
    sent.push(submission({ at: now - 2 * HOUR_MS }), submission({ at: now, signature: 'sig2' }));
    await writer.flush();
    const rows = await store.db
      .selectFrom('request_log')
      .select(['customer_id', 'at'])
      .orderBy('id')
      .execute();
    const of = (customer: string) =>
      rows.filter((row) => row.customer_id === customer).map((row) => row.at - now);
    // Customer anna may keep five of nine; then the two oldest of the remaining ten are deleted.
    expect([of('old'), of('anna'), of('ben')]).toEqual([[], [4, 5, 6, 7, 8], [1, 2, 3]]);
    const terms = await store.db.selectFrom('request_term').select(['customer_id', 'term']).execute();
    expect(terms.map(({ customer_id, term }) => `${customer_id} ${term}`).sort()).toEqual(
      ['anna', 'ben'].flatMap((customer) => Array(customer === 'anna' ? 5 : 3).fill(`${customer} lost`)),
    );
    const left = await store.db.selectFrom('submission').select('signature').execute();
    expect(left).toEqual([{ signature: 'sig2' }]);
  });

  it('is buffered up to a limit while the store is unreachable', async () => {
    const db = {
      insertInto: () => {
        throw new Error('away');
      },
    };
    const { log, writer } = createRequestWriter({ ...(await stores.open()), db } as unknown as Store, {
      pendingMax: 3,
    });
    log.push(...Array.from({ length: 5 }, () => entry()));
    await writer.flush();
    expect(writer.losses.dropped).toBe(2);
  });
});

describeOnBothStores('unknown methods', (stores) => {
  it('are listed by name, for one customer or all, and deleted after the retention period', async () => {
    const store = await stores.open();
    const limits = { retentionHours: 1, pruneIntervalMs: 0 };
    const { unknownMethods, writer } = createRequestWriter(store, limits);
    const now = Date.now();
    unknownMethods.count('anna', 'getOld', now - 3 * HOUR_MS);
    for (const customer of ['anna', 'ben', 'anna']) unknownMethods.count(customer, 'getNothing', now);
    await writer.flush();
    unknownMethods.count('anna', 'getMore', now + 1);
    unknownMethods.count('anna', 'getNothing', now + 2);
    await writer.flush();
    const { handlers, requested } = apiOn(store, { now: () => now });
    const read = (query: object) =>
      handlers['GET /unknown-methods'](
        { path: {}, query: { from: 0, ...query }, body: null } as never,
        requested,
      );
    const nothing = { method: 'getNothing', requests: 4, customers: 2, lastAt: now + 2 };
    const more = { method: 'getMore', requests: 1, customers: 1, lastAt: now + 1 };
    expect((await read({})).methods).toEqual([nothing, more]);
    expect((await read({ customer: 'ben' })).methods).toMatchObject([{ method: 'getNothing', requests: 1 }]);
  });
});

describeOnBothStores('the live request log', (stores) => {
  const follower = { id: 'user u', isOperator: false };
  const follow = (store: Store, tails: LogTails, cancel: AbortController, filter = {}, now = () => NOW) =>
    tails
      .follow({
        store,
        log: new SqlLog(store),
        customerId: 'anna',
        filter,
        now,
        signal: cancel.signal,
        follower,
      })
      [Symbol.asyncIterator]();

  it('streams each new entry once, whichever gateway wrote it, until the client disconnects', async () => {
    const store = await stores.open();
    const { log, writer } = createRequestWriter(store);
    const cancel = new AbortController();
    const entries = follow(store, new LogTails({ pollIntervalMs: 5 }), cancel, { method: 'getSlot' });
    log.push(entry({ method: 'getSlot', at: NOW + 3 }), entry());
    await writer.flush();
    const first = JSON.parse((await entries.next()).value as string);
    expect(first).toMatchObject({ id: expect.stringMatching(/^[0-9a-f]{28}$/), method: 'getSlot', ms: 1.5 });
    // An earlier time than that of the previous entry, as another gateway might write.
    log.push(entry({ method: 'getSlot', at: NOW + 1, micros: 7 }));
    await writer.flush();
    expect(JSON.parse((await entries.next()).value as string)).toMatchObject({ ms: 0.007 });
    const waiting = entries.next();
    cancel.abort();
    expect(await waiting).toMatchObject({ done: true });
  });
});

describeOnBothStores('gateways on one database', (stores) => {
  function gatewayOn(store: Store, more: Partial<GatewayHooks> = {}, heartbeatMs = 0) {
    const open: ConnectionInfo[] = [];
    const closed: string[] = [];
    let cordons: readonly NodeCordon[] = [];
    const works: GatewayHooks = {
      nodes: () => [{ name: 'node-1', network: 'devnet', state: 'healthy', slot: '9' }],
      problems: () => [],
      connections: (max) => open.slice(0, max),
      laggedMinutes: () => [],
      setCordons: (all) => {
        cordons = all;
      },
      closeConnection: (id) => void closed.push(id),
      ...more,
    };
    const self = { host: 'box one', version: '1.2.3' };
    const clock = { now: 0 };
    const options = { heartbeatMs, goneAfterMs: 10_000, now: () => clock.now };
    const presence = new GatewayHeartbeat(store, works, self, options);
    return { open, closed, presence, clock, cordons: () => cordons };
  }
  const connections = async (store: Store, key?: string) => {
    const { handlers, requested } = apiOn(store, { now: Date.now });
    const given = { path, query: { key }, body: null };
    return handlers['GET /customers/{customer}/connections'](given, requested);
  };

  it('store their URL and changed connections only, and all again after being declared dead', async () => {
    const { db, ...store } = await stores.open();
    const { open, presence } = gatewayOn({ db, ...store });
    presence.setUrl('http://127.0.0.1:8899');
    open.push(...Array.from({ length: 200 }, (_, nth) => facts({ id: `c${nth}` })));
    await presence.refresh();
    const gateways = await db.selectFrom('gateway').select('url').execute();
    expect(gateways).toEqual([{ url: 'http://127.0.0.1:8899' }]);
    await db.updateTable('connection').set({ told_at: 5 }).execute();
    open[3] = facts({ id: 'c3', messages: 11 });
    open.pop();
    await presence.refresh();
    const written = db.selectFrom('connection').select('id');
    expect(await written.execute()).toHaveLength(199);
    expect(await written.where('told_at', '>', 5).execute()).toEqual([{ id: 'c3' }]);
    await db.deleteFrom('connection').execute();
    await db.deleteFrom('gateway').execute();
    await presence.refresh();
    expect(await written.execute()).toHaveLength(199);
  });

  it('list their current connections, and none of a dead gateway', async () => {
    const store = await stores.open();
    const one = gatewayOn(store);
    const two = gatewayOn(store);
    one.open.push(facts(), facts({ id: 'c2', customerId: 'ben' }));
    two.open.push(facts({ id: 'c3', kind: 'grpc', rpc: 'Subscribe', keyId: '22222222' }));
    await one.presence.refresh();
    await two.presence.refresh();
    one.open[0] = facts({ messages: 11 });
    await one.presence.refresh();
    const { items, totals } = await connections(store);
    expect(items.map(({ id, messages, keyName }) => [id, messages, keyName])).toEqual([
      ['c1', 11, null],
      ['c3', 10, null],
    ]);
    expect(totals).toEqual({ websocket: 1, grpc: 1, messagesPerSecond: 5, bytesPerSecond: 500 });
    expect((await connections(store, '22222222')).items.map(({ id }) => id)).toEqual(['c3']);
    one.open.length = 0;
    one.clock.now = 9_999;
    await one.presence.refresh();
    expect((await connections(store)).items.map(({ id }) => id)).toEqual(['c3']);
    one.clock.now = 10_001;
    await one.presence.refresh();
    expect((await connections(store)).items).toEqual([]);
  });

  it('are no longer listed after they stop', async () => {
    const store = await stores.open();
    const { open, presence } = gatewayOn(store);
    open.push(facts());
    await presence.refresh();
    expect((await connections(store)).items).toHaveLength(1);
    await presence.stop();
    expect((await connections(store)).items).toEqual([]);
    expect(await store.db.selectFrom('gateway').selectAll().execute()).toEqual([]);
  });

  it('close a connection for authorized callers only', async () => {
    const store = await stores.open();
    const one = gatewayOn(store);
    const two = gatewayOn(store);
    one.open.push(facts());
    await one.presence.refresh();
    const { handlers, requested } = apiOn(store);
    const close = (customer: string, connection: string) =>
      handlers['DELETE /customers/{customer}/connections/{connection}'](
        { path: { customer, connection }, query: null, body: null },
        requested,
      );
    await expect(close('ben', 'c1')).rejects.toMatchObject({ status: 404 });
    expect(await close('anna', 'c1')).toEqual({ done: true });
    expect(await close('anna', 'c1')).toEqual({ done: true });
    await two.presence.refresh();
    expect(two.closed).toEqual([]);
    await one.presence.refresh();
    await one.presence.refresh();
    expect(one.closed).toEqual(['c1']);
    const audit = await store.db.selectFrom('audit').select(['action', 'customer_id', 'key_id']).execute();
    expect(audit[0]).toEqual({ action: 'connection.close', customer_id: 'anna', key_id: '7hQ2mKpZ' });
  });

  it('count connections closed for lag', async () => {
    const store = await stores.open();
    const minute = Math.floor(Date.now() / 60_000);
    const lagged = [{ customerId: 'anna', minute, connections: 2 }];
    const one = gatewayOn(store, { laggedMinutes: () => lagged });
    const two = gatewayOn(store, {
      laggedMinutes: () => [{ customerId: 'anna', minute: minute - 59, connections: 1 }],
    });
    await one.presence.refresh();
    await two.presence.refresh();
    lagged[0] = { customerId: 'anna', minute, connections: 3 };
    await one.presence.refresh();
    expect((await connections(store)).laggedLastHour).toBe(4);
  });

  it('cordon a node on all gateways, with an audit entry', async () => {
    const store = await stores.open();
    const one = gatewayOn(store);
    await one.presence.refresh();
    const { handlers, requested } = apiOn(store);
    const cordon = (node: string, reason: string) =>
      handlers['POST /upstreams/{node}/cordon'](
        { path: { node }, query: null, body: { network: 'devnet', reason } },
        requested,
      );
    const uncordon = (node: string) =>
      handlers['POST /upstreams/{node}/uncordon'](
        { path: { node }, query: null, body: { network: 'devnet' } },
        requested,
      );
    await expect(cordon('node-9', '')).rejects.toMatchObject({ status: 404 });
    await expect(uncordon('node-1')).rejects.toMatchObject({ status: 409 });
    await cordon('node-1', 'new disks');
    await cordon('node-1', 'more disks');
    await one.presence.refresh();
    expect(one.cordons()).toEqual([
      { network: 'devnet', node: 'node-1', reason: 'more disks', isDrain: false },
    ]);
    await uncordon('node-1');
    await one.presence.refresh();
    expect(one.cordons()).toEqual([]);
    const lines = await store.db.selectFrom('audit').selectAll().orderBy('id').execute();
    expect(lines.map(({ action, actor, address }) => [action, actor, address])).toEqual([
      ...['node.cordon', 'node.cordon', 'node.uncordon'].map((action) => [
        ...[action, 'user:op@example.com', '192.0.2.9'],
      ]),
    ]);
    expect(lines[0]!.detail).toBe('{"network":"devnet","node":"node-1","reason":"new disks"}');
  });
});

describeOnBothStores('submitted transactions', (stores) => {
  const source = dispatcherOf(async ({ method, params }) => {
    const [signatures] = JSON.parse(params!.toString()) as [string[]];
    expect(method).toBe('getSignatureStatuses');
    const value = signatures.map((signature) =>
      signature === 'sig1'
        ? { slot: 9, confirmationStatus: 'finalized', err: { InstructionError: [0, 'Custom'] } }
        : null,
    );
    return { body: Buffer.from(JSON.stringify({ context: {}, value })), errorCode: 0 };
  });
  const list = async (store: Store, query: object, more: Partial<ApiServices> = {}) => {
    const { handlers, requested } = apiOn(store, more);
    const given = { path, query: { limit: 2, ...query }, body: null };
    return handlers['GET /customers/{customer}/transactions'](given, requested);
  };

  it('are listed with every attempt and their on-chain status', async () => {
    const store = await stores.open();
    const { sent, writer } = createRequestWriter(store);
    sent.push(
      submission(),
      submission({ signature: 'sig2' }),
      submission({ signature: 'sig3', customerId: 'ben' }),
    );
    sent.push(submission({ signature: 'sig4', outcome: 'UPSTREAM_TIMEOUT', attempts: [] }));
    await writer.flush();
    const page = await list(store, {}, { dispatcher: source });
    expect(page.items.map(({ signature, outcome }) => [signature, outcome])).toEqual([
      ['sig4', 'UPSTREAM_TIMEOUT'],
      ['sig2', 'accepted'],
    ]);
    const rest = await list(store, { cursor: page.next! }, { dispatcher: source });
    expect(rest).toEqual({
      items: [
        {
          ...{
            signature: 'sig1',
            at: NOW,
            keyId: '7hQ2mKpZ',
            keyName: null,
            network: 'devnet',
            outcome: 'accepted',
          },
          message: null,
          attempts: [{ node: 'node-1', at: NOW, ms: 12.5, outcome: 'ok' }],
          rebroadcasts: 0,
          again: [],
          fate: null,
          status: { slot: '9', confirmation: 'finalized', err: '{"InstructionError":[0,"Custom"]}' },
        },
      ],
      next: null,
    });
    expect((await list(store, { signature: 'sig2' })).items).toHaveLength(1);
    expect((await list(store, { signature: 'sig3' })).items).toHaveLength(0);
    expect((await list(store, { key: '22222222' })).items).toHaveLength(0);
  });
});

const rows = async ({ db }: Store) => db.selectFrom('request_log').selectAll().orderBy('id').execute();

/** A store whose inserts and transactions fail before or after they run. */
function storeThat(store: Store, insert: (done: () => Promise<unknown>) => Promise<unknown>): Store {
  return {
    ...store,
    db: new Proxy(store.db, {
      get(target, name) {
        const value = Reflect.get(target, name) as unknown;
        if (name === 'transaction')
          return () => ({
            execute: (work: Parameters<typeof transact<unknown>>[1]) => insert(() => transact(store, work)),
          });
        if (name !== 'insertInto') return typeof value === 'function' ? value.bind(target) : value;
        return (table: 'request_log') => {
          const query = (made: { execute(): Promise<unknown> }): unknown =>
            new Proxy(made, {
              get(inner, step) {
                const member = Reflect.get(inner, step) as (...given: unknown[]) => never;
                if (step === 'execute') return () => insert(() => inner.execute());
                return (...given: unknown[]) => query(member.apply(inner, given));
              },
            });
          return query(target.insertInto(table));
        };
      },
    }),
  };
}

describeOnBothStores('the request writer', (stores) => {
  it('skips only the rows that the database rejects', async () => {
    const store = await stores.open();
    await sql`create unique index one_slow on request_log (micros)`.execute(store.db);
    const states: (unknown | null)[] = [];
    const { log, sent, writer } = createRequestWriter(store, {
      batchRows: 3,
      onState: (state) => states.push(state),
    });
    log.push(...[1, 2, 2, 3, 4, 4, 5, 6].map((micros) => entry({ micros, message: 'Slow' })));
    sent.push(submission());
    await writer.flush();
    expect((await rows(store)).map(({ micros }) => micros)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(writer.losses.rejected).toBe(2);
    // No search term without its entry.
    expect(await store.db.selectFrom('request_term').select('id').distinct().execute()).toHaveLength(6);
    expect(await store.db.selectFrom('submission').select('signature').execute()).toHaveLength(1);
    log.push(entry({ micros: 7 }));
    await writer.flush();
    expect(await rows(store)).toHaveLength(7);
    expect([states, writer.losses.dropped]).toEqual([[], 0]);
  });

  it('writes rows once even if the reply to a commit was lost', async () => {
    const store = await stores.open();
    let lost = 0;
    const far = storeThat(store, async (insert) => {
      const result = await insert();
      if (lost++ < 2) throw new Error('Connection terminated unexpectedly');
      return result;
    });
    const { log, sent, writer } = createRequestWriter(far);
    log.push(entry());
    sent.push(submission());
    await writer.flush();
    log.push(entry({ method: 'getSlot' }));
    await writer.flush();
    expect((await rows(store)).map(({ method }) => method)).toEqual(['getBalance', 'getSlot']);
    expect(await store.db.selectFrom('submission').select('signature').execute()).toHaveLength(1);
    expect(writer.losses.rejected).toBe(0);
  });

  // The remaining tests do not depend on the SQL dialect.
  if (stores.kind === 'postgres') return;

  it('keeps one row per transaction and the newest requests while the store is unreachable', async () => {
    const store = await stores.open();
    let isAway = true;
    const far = storeThat(store, async (insert) => {
      if (isAway) throw new Error('away');
      return insert();
    });
    const { log, sent, writer } = createRequestWriter(far, { onState: () => {}, pendingMax: 2 });
    const one: Submission = submission();
    sent.push(one);
    log.push(...[1, 2, 3].map((micros) => entry({ micros })));
    await writer.flush();
    one.result = { status: 'expired', slot: null, err: null, rebroadcasts: 7, rebroadcastAttempts: [] };
    sent.push(one);
    isAway = false;
    await writer.flush();
    const retained = await store.db.selectFrom('submission').select(['fate', 'rebroadcasts']).execute();
    expect([retained, writer.losses.rejected]).toEqual([[{ fate: 'expired', rebroadcasts: 7 }], 0]);
    expect((await rows(store)).map(({ micros }) => micros)).toEqual([2, 3]);
    expect(writer.losses.dropped).toBe(1);
  });
});

describeOnBothStores('the stored request log', (stores) => {
  const writeAt = async (store: Store, customerId: string, from: number, count: number) => {
    const { log, writer } = createRequestWriter(store);
    log.push(
      ...Array.from({ length: count }, (_, nth) => entry({ customerId, at: from + nth, micros: nth })),
    );
    await writer.flush();
  };
  const left = async (store: Store, customer: string) =>
    (await rows(store)).filter((row) => row.customer_id === customer).map(({ micros }) => micros);

  it('is counted incrementally, whichever gateway wrote the entries', async () => {
    const store = await stores.open();
    const now = Date.now();
    const limits = { retentionHours: 1, customerRowsMax: 150, rowsMax: 200 };
    const retention = new LogRetention(store, limits);
    await writeAt(store, 'anna', now - 600_000, 130);
    await retention.prune(now - 550_000);
    expect(await left(store, 'anna')).toHaveLength(130);
    await writeAt(store, 'anna', now - 500_000, 30);
    await writeAt(store, 'ben', now - 400_000, 60);
    // Ten of anna's rows exceed her customer limit; ten more rows exceed the total.
    // These rows are not counted yet, because another gateway may still write rows as recent.
    await writeAt(store, 'ben', now - 20_000, 20);
    await retention.prune(now);
    expect([(await left(store, 'anna')).length, (await left(store, 'ben')).length]).toEqual([140, 80]);
  });

  it('of a deleted customer is pruned, including entries written after the deletion', async () => {
    const store = await stores.open();
    const now = Date.now();
    const deletedElsewhere: (readonly string[])[] = [];
    const elsewhere = { deleteCustomers: async (ids: readonly string[]) => void deletedElsewhere.push(ids) };
    const limits = { retentionHours: 1, customerRowsMax: 100, rowsMax: 1_000 };
    const retention = new LogRetention(store, limits, elsewhere);
    const deletion = { actor: 'operator', action: 'customer.delete', detail: '{}' };
    const deletions = [
      { ...deletion, id: 1, customer_id: 'carl', at: now - 3_600_001 },
      { ...deletion, id: 2, customer_id: 'anna', at: now - 1_800_000 },
    ];
    await store.db.insertInto('audit').values(deletions).execute();
    await writeAt(store, 'anna', now - 600_000, 3);
    await writeAt(store, 'ben', now - 600_000, 3);
    await retention.prune(now);
    expect([await left(store, 'anna'), await left(store, 'ben')]).toEqual([[], [0, 1, 2]]);
    await writeAt(store, 'anna', now, 2);
    await retention.prune(now + 60_000);
    expect([await left(store, 'anna'), await left(store, 'ben')]).toEqual([[], [0, 1, 2]]);
    // Carl's entries have expired.
    expect(deletedElsewhere).toEqual([['anna'], ['anna']]);
  });

  it('is pruned by one gateway at a time', async () => {
    const store = await stores.open();
    const now = Date.now();
    const limits = { retentionHours: 1, customerRowsMax: 1, rowsMax: 10 };
    const first = new LogRetention(store, limits);
    const second = new LogRetention(store, limits);
    await first.prune(now);
    await writeAt(store, 'anna', now - 600_000, 3);
    await second.prune(now + 60_000);
    expect(await left(store, 'anna')).toEqual([0, 1, 2]);
    await first.stop();
    await second.prune(now + 120_000);
    expect(await left(store, 'anna')).toEqual([2]);
    // When the second gateway prunes again, it does not count entries twice.
    await second.stop();
    for (const gateway of [first, second]) await gateway.prune(now + 180_000);
    await first.stop();
    await second.prune(now + 240_000);
    expect(await left(store, 'anna')).toEqual([2]);
  });
});
