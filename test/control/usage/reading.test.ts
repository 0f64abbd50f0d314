import { expect, it } from 'vitest';
import { contract } from '../../../src/control/api/contract/contract.ts';
import type { ApiContext } from '../../../src/control/api/handler.ts';
import { usageHandlers } from '../../../src/control/api/handlers/usage.ts';
import { csvLine } from '../../../src/control/api/handlers/usage-series.ts';
import type { ApiServices } from '../../../src/control/api/services.ts';
import type { Store } from '../../../src/control/database/store.ts';
import { syncPlans } from '../../../src/control/plans.ts';
import { axisOver, readLatencyRows, readWholeSums } from '../../../src/control/usage/read-usage.ts';
import { storeUsage } from '../../../src/control/usage/usage-rows.ts';
import { defaultPlanLimits } from '../../../src/gateway/auth/key-record.ts';
import type { RequestEntry } from '../../../src/gateway/telemetry/request-log.ts';
import type { LooseJson } from '../accounts/accounts-fixture.ts';
import { createRequestWriter, requestEntry } from '../request-writer-fixture.ts';
import { describeOnBothStores } from '../stores.ts';
import { addKeys, EDGE, EDGE_MINUTE, rollUpAt, usageRow, write } from './usage-fixture.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

const NOW = EDGE + 30 * MINUTE_MS + 30_000;
const NOW_MINUTE = EDGE_MINUTE + 30;

const path = { customer: 'acme' };
const context = { caller: { kind: 'local', name: 'test' } } as ApiContext;

function handlersOn(store: Store, now = NOW) {
  const services = { store, now: () => now, endpoints: [{ name: 'wallet/balance', credits: 3 }] };
  return usageHandlers(services as unknown as ApiServices);
}

async function invoke<Name extends 'summary' | 'usage' | 'quota' | 'performance' | 'errors'>(
  store: Store,
  name: Name,
  query: Readonly<Record<string, string | number>> = {},
  now = NOW,
  customer = path.customer,
): Promise<LooseJson> {
  const route = `GET /customers/{customer}/${name}` as const;
  const read = 'query' in contract[route] ? contract[route].query.parse(query) : null;
  const handler = handlersOn(store, now)[route] as (given: unknown, context: ApiContext) => Promise<unknown>;
  return contract[route].result.parse(
    await handler({ path: { customer }, query: read, body: null }, context),
  );
}

async function fleetOf(
  store: Store,
  query: Readonly<Record<string, string | number>>,
  now = NOW,
): Promise<LooseJson> {
  const route = contract['GET /usage/summary'];
  const handler = handlersOn(store, now)['GET /usage/summary'];
  const input = { path: {}, query: route.query.parse(query), body: null };
  return route.result.parse(await handler(input as never, context));
}

/** Names of the top list with the given sums, largest first. */
async function topOf(
  store: Store,
  query: Readonly<Record<string, string | number>>,
  customer: string | null = null,
  sum: 'requests' | 'errors' | 'credits' = 'requests',
): Promise<unknown[]> {
  const name = customer === null ? 'GET /usage/top' : 'GET /customers/{customer}/usage/top';
  const read = contract[name].query.parse({ from: NOW - 3 * HOUR_MS, to: NOW, ...query });
  const handler = handlersOn(store)[name] as (given: unknown, context: ApiContext) => Promise<unknown>;
  const list = contract[name].result.parse(
    await handler({ path: { customer }, query: read, body: null }, context),
  );
  return [...list.rows.map((row) => [row.label, row[sum]]), ...(list.hasMore ? ['and more'] : [])];
}

async function csvOf(store: Store, query: Readonly<Record<string, string | number>>): Promise<string[]> {
  const read = contract['GET /customers/{customer}/usage.csv'].query.parse(query);
  const lines: string[] = [];
  const handler = handlersOn(store)['GET /customers/{customer}/usage.csv'];
  for await (const line of await handler({ path, query: read, body: null }, context))
    lines.push(...line.split('\r\n'));
  return lines;
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

it('the CSV export escapes text that starts like a formula', () => {
  for (const sign of ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])
    expect(csvLine([`${sign}SUM(A1)`, 1]).replaceAll('"', '')).toBe(`'${sign}SUM(A1),1`);
});

async function openWithKeys(open: () => Promise<Store>): Promise<Store> {
  const store = await open();
  await addKeys(store, 'acme', { AAAAAAAA: 'default', BBBBBBBB: 'default' });
  await addKeys(store, 'other', { CCCCCCCC: 'default' });
  return store;
}

describeOnBothStores('a usage report', ({ open }) => {
  it('limits the largest lists that one customer requests at once', async () => {
    const store = await openWithKeys(open);
    const read = handlersOn(store)['GET /customers/{customer}/usage/top'];
    const query = contract['GET /customers/{customer}/usage/top'].query.parse({ by: 'key' });
    const list = async (customer: string) => read({ path: { customer }, query, body: null }, context);
    const lists = await Promise.allSettled([...Array<string>(12).fill('acme'), 'other'].map(list));
    const rejected = lists.flatMap((one, at) => (one.status === 'rejected' ? [[at, one.reason.status]] : []));
    expect(rejected).toEqual([[11, 429]]);
  });

  it('reads the histograms of a step and method as one row', async () => {
    const store = await openWithKeys(open);
    for (let minute = EDGE_MINUTE; minute < EDGE_MINUTE + 2; minute++)
      for (const keyId of ['AAAAAAAA', 'BBBBBBBB'])
        await write(store, [usageRow({ minute, keyId }), usageRow({ minute, keyId, method: 'getBlock' })]);
    const query = {
      axis: axisOver('minute', EDGE, EDGE + 2 * MINUTE_MS),
      filter: { customerId: 'acme', keys: ['AAAAAAAA', 'BBBBBBBB'] },
    };
    const found: string[] = [];
    await readLatencyRows(store, query, { column: 'method' }, ({ at, name, latency }) => {
      found.push(`${at} ${name} ${latency}`);
    });
    expect(found.sort()).toEqual([
      ...['0 getBlock 12:1,12:1', '0 getSlot 12:1,12:1', '1 getBlock 12:1,12:1', '1 getSlot 12:1,12:1'],
    ]);
  });

  it('covers the last hour by minutes by default, with the previous period, and zeros without usage', async () => {
    const store = await openWithKeys(open);
    const empty: LooseJson = await invoke(store, 'summary');
    expect(empty.axis).toEqual({
      from: (NOW_MINUTE - 59) * MINUTE_MS,
      to: (NOW_MINUTE + 1) * MINUTE_MS,
      stepMs: MINUTE_MS,
    });
    expect([empty.p95.length, empty.credits.length, sum(empty.credits), empty.hasSucceeded]).toEqual([
      60,
      60,
      0,
      false,
    ]);
    await write(store, [
      usageRow({ requests: 5, minute: NOW_MINUTE }),
      usageRow({ requests: 1, minute: NOW_MINUTE, status: 'limited', credits: 0, latency: '' }),
      usageRow({ requests: 7, minute: NOW_MINUTE - 59, keyId: 'BBBBBBBB', latency: '40:7' }),
      usageRow({ requests: 11, minute: NOW_MINUTE - 60 }),
      usageRow({ requests: 13, minute: NOW_MINUTE - 120 }),
      usageRow({ requests: 100, keyId: 'CCCCCCCC' }),
    ]);
    for (const rolled of [false, true]) {
      if (rolled) await rollUpAt(store, NOW);
      const shown: LooseJson = await invoke(store, 'summary');
      expect(shown.now).toMatchObject({ requests: 13, ok: 12, credits: 24 });
      expect(shown.before.requests).toBe(11);
      expect([shown.byStatus.ok?.[59], shown.byStatus.ok?.[0], shown.byStatus.limited?.[59]]).toEqual([
        5, 7, 1,
      ]);
      expect([shown.p95[59], shown.p95[58]]).toEqual([0.512, null]);
      expect([shown.now.latency.p50, shown.now.latency.max]).toEqual([65.536, 65.536]);
      expect([sum(shown.credits), shown.hasSucceeded]).toEqual([24, true]);
      expect(shown.updatedAt).toBeGreaterThan(NOW);
    }
  });

  it('counts requests without a known key apart for the built-in customer', async () => {
    const store = await openWithKeys(open);
    await write(store, [
      usageRow({ requests: 3, minute: NOW_MINUTE, keyId: null, status: 'client' }),
      usageRow({ requests: 2, minute: NOW_MINUTE - 60, keyId: null, status: 'client' }),
      usageRow({ requests: 5, minute: NOW_MINUTE }),
    ]);
    for (const rolled of [false, true]) {
      if (rolled) await rollUpAt(store, NOW);
      const { now, withoutKey } = await invoke(store, 'summary', {}, NOW, 'house');
      expect([now.requests, withoutKey]).toEqual([3, { now: 3, before: 2 }]);
      expect((await invoke(store, 'summary')).withoutKey).toEqual({ now: 0, before: 0 });
    }
  });

  it('uses minutes up to six hours, hours up to fourteen days, then days, complete at each boundary', async () => {
    const store = await openWithKeys(open);
    const minutes = [0, 19, 20, 30].map((offset) => EDGE_MINUTE + offset);
    await write(
      store,
      minutes.map((minute) => usageRow({ minute, requests: 10 })),
    );
    await rollUpAt(store, EDGE + 25 * MINUTE_MS + HOUR_MS);
    const steps = [];
    for (const hours of [6, 7, 14 * 24, 14 * 24 + 1, 400 * 24]) {
      const { axis, totals, series } = await invoke(store, 'usage', { from: NOW - hours * HOUR_MS, to: NOW });
      expect([totals.requests, sum(series[0]?.requests ?? [])]).toEqual([40, 40]);
      steps.push(axis.stepMs / MINUTE_MS);
    }
    expect(steps).toEqual([1, 60, 60, 1_440, 1_440]);
    const november = Date.UTC(2026, 10, 1);
    const { totals } = await invoke(store, 'usage', { from: november, to: november + DAY_MS });
    expect(totals.requests).toBe(20);
  });

  it('is rejected with an explanation if its range is invalid', async () => {
    const store = await openWithKeys(open);
    for (const [query, field] of [
      [{ from: NOW, to: NOW }, 'from'],
      [{ from: NOW - 401 * DAY_MS, to: NOW }, 'from'],
    ] as const) {
      await expect(invoke(store, 'usage', query)).rejects.toMatchObject({
        status: 422,
        fields: { [field]: expect.any(String) },
      });
    }
    await expect(invoke(store, 'usage', { key: 'CCCCCCCC' })).rejects.toMatchObject({ status: 404 });
    expect(await invoke(store, 'usage', { from: 0, to: 1 })).toMatchObject({ totals: { requests: 0 } });
  });

  it('is split by key, product, method and status, largest first, with small ones combined', async () => {
    const store = await openWithKeys(open);
    const keys = Array.from({ length: 25 }, (_, index) => `KEY${String(index).padStart(5, '0')}`);
    await addKeys(store, 'acme', Object.fromEntries(keys.map((key) => [key, 'default'])));
    await write(store, [
      ...keys.map((keyId, index) => usageRow({ keyId, requests: index + 1, minute: NOW_MINUTE - 1 })),
      usageRow({ product: 'grpc', method: 'Subscribe', requests: 100, messages: 5, minute: NOW_MINUTE }),
      usageRow({ status: 'upstream', requests: 50, credits: 0, latency: '', minute: NOW_MINUTE }),
    ]);
    const parted = async (by: string, more = {}) =>
      (await invoke(store, 'usage', { by, ...more })).series.map(({ name, totals, requests }: LooseJson) => {
        expect(sum(requests)).toBe(totals.requests);
        return [name, totals.requests];
      });
    for (const rolled of [false, true]) {
      if (rolled) await rollUpAt(store, NOW + DAY_MS);
      expect(await parted('product')).toEqual([
        ['rpc', 375],
        ['grpc', 100],
      ]);
      expect(await parted('method')).toEqual([
        ['getSlot', 375],
        ['Subscribe', 100],
      ]);
      expect(await parted('status')).toEqual([
        ['ok', 425],
        ['upstream', 50],
      ]);
      const byKey = await parted('key');
      expect([byKey.length, byKey[0], byKey[1], byKey[20]]).toEqual([
        21,
        ['AAAAAAAA', 150],
        [keys[24], 25],
        ['other', 21],
      ]);
      expect(await parted('none', { key: 'AAAAAAAA', method: 'getSlot' })).toEqual([['all', 50]]);
      expect(await parted('method', { product: 'grpc' })).toEqual([['Subscribe', 100]]);
    }
    const { series } = await invoke(store, 'usage', { by: 'key' });
    expect(series[0]?.label).toBe('name of AAAAAAAA');
  });

  it('can be exported as CSV without spreadsheet formulas', async () => {
    const store = await openWithKeys(open);
    await addKeys(store, 'acme', { DDDDDDDD: 'default' });
    await store.db.updateTable('api_key').set({ name: '=cmd|"x",1' }).where('id', '=', 'DDDDDDDD').execute();
    const from = EDGE - 10 * HOUR_MS;
    await write(store, [
      usageRow({ keyId: 'DDDDDDDD', requests: 2 }),
      usageRow({ keyId: 'DDDDDDDD', requests: 3, minute: EDGE_MINUTE + 1 }),
      usageRow({ keyId: 'BBBBBBBB', requests: 4, minute: EDGE_MINUTE + 29 }),
    ]);
    await write(store, [usageRow({ keyId: 'DDDDDDDD', requests: 7, minute: EDGE_MINUTE + 1 })], 'two');
    const expected = [
      'time,key,key_name,product,method,status,requests,credits,bytes_in,bytes_out,messages',
      `2026-10-31T23:00:00.000Z,DDDDDDDD,"'=cmd|""x"",1",rpc,getSlot,ok,12,24,120,1200,0`,
      '2026-11-01T00:00:00.000Z,BBBBBBBB,name of BBBBBBBB,rpc,getSlot,ok,4,8,40,400,0',
    ];
    expect(await csvOf(store, { from, to: NOW })).toEqual(expected);
    await rollUpAt(store, NOW + HOUR_MS);
    expect(await csvOf(store, { from, to: NOW })).toEqual(expected);
    expect(await csvOf(store, { from, to: NOW, key: 'BBBBBBBB' })).toEqual([expected[0], expected[2]]);
  });

  it('includes the quota of each plan, and a projection from the last week', async () => {
    const store = await openWithKeys(open);
    await syncPlans(store, [{ id: 'big', name: 'Big', limits: defaultPlanLimits }], 'test');
    await addKeys(store, 'acme', { EEEEEEEE: 'big' });
    await store.db
      .updateTable('plan')
      .set({ monthly_credits: 1_000, prices: '{"getSlot":9}' })
      .where('id', '=', 'default')
      .execute();
    const now = Date.UTC(2026, 10, 11);
    const hour = (ago: number) => now / MINUTE_MS - ago * 60;
    await write(store, [
      usageRow({ keyId: 'AAAAAAAA', credits: 10_000, minute: Date.UTC(2026, 9, 31, 23, 59) / MINUTE_MS }),
      usageRow({ keyId: 'AAAAAAAA', credits: 64, minute: Date.UTC(2026, 10, 1) / MINUTE_MS }),
      ...[96, 48, 24].map((ago) => usageRow({ keyId: 'AAAAAAAA', credits: 96, minute: hour(ago) })),
      usageRow({ keyId: 'EEEEEEEE', credits: 5, minute: hour(2) }),
    ]);
    for (const rolled of [false, true]) {
      if (rolled) await rollUpAt(store, now + DAY_MS);
      const { quotas, days, prices } = await invoke(store, 'quota', {}, now);
      const [big, usual] = quotas;
      expect(usual).toMatchObject({
        planId: 'default',
        limit: 1_000,
        used: 352,
        periodTo: Date.UTC(2026, 11, 1),
      });
      // 288 credits in the 96 hours since the first usage of the week: 3 per hour, for 20 more days.
      expect(usual).toMatchObject({ projected: 352 + 20 * 24 * 3, exhaustedAt: now + 216 * HOUR_MS });
      expect(big).toMatchObject({ planId: 'big', limit: null, used: 5, projected: null, exhaustedAt: null });
      expect(days.map(({ credits }: LooseJson) => credits)).toEqual([64, 0, 0, 0, 0, 0, 96, 0, 96, 101, 0]);
      expect(days[0]?.day).toBe(Date.UTC(2026, 10, 1));
      expect(prices).toContainEqual({ method: 'getSlot', credits: 9 });
      expect(prices).toContainEqual({ method: 'wallet/balance', credits: 3 });
    }
  });

  it('excludes calls rejected before they reached a node from latency', async () => {
    const store = await openWithKeys(open);
    await write(store, [
      usageRow({ requests: 90, latency: '0:90', minute: NOW_MINUTE - 1 }),
      usageRow({ requests: 10, latency: '77:10', minute: NOW_MINUTE, status: 'rpcError' }),
      usageRow({ requests: 900, latency: '1:900', minute: NOW_MINUTE, status: 'limited' }),
      usageRow({ requests: 1, method: 'getBlock', latency: '5:1', minute: NOW_MINUTE - 1 }),
      usageRow({ requests: 0, method: 'notifications', messages: 5, minute: NOW_MINUTE }),
    ]);
    const { series, methods, heat } = await invoke(store, 'performance');
    expect(series.p50.slice(57)).toEqual([null, 0.064, 33_554.432]);
    expect(methods.map(({ method }: LooseJson) => method)).toEqual(['getSlot', 'getBlock']);
    expect(methods[0]).toMatchObject({
      requests: 1_000,
      errors: 910,
      averageBytes: 100,
      latency: { p50: 0.064, p95: 33_554.432 },
    });
    expect([
      heat.counts.length,
      heat.counts[0]?.[58],
      heat.counts[2]?.[58],
      heat.counts.at(-1)?.[59],
    ]).toEqual([heat.boundsMs.length, 90, 1, 10]);
    expect(heat.boundsMs).toEqual(heat.boundsMs.toSorted((a: number, b: number) => a - b));
  });

  it('shows failures by customer and time, with exact counts of error codes, and examples of the request log', async () => {
    const store = await openWithKeys(open);
    await write(store, [
      usageRow({ requests: 50, minute: NOW_MINUTE }),
      usageRow({ requests: 3, status: 'limited', code: 'RATE_LIMITED', minute: NOW_MINUTE - 5 }),
      usageRow({ requests: 4, status: 'limited', code: 'RATE_LIMITED', minute: NOW_MINUTE - 2 }),
      usageRow({
        requests: 2,
        status: 'rpcError',
        code: '-32602',
        keyId: 'BBBBBBBB',
        minute: NOW_MINUTE - 1,
      }),
    ]);
    const { log, writer } = createRequestWriter(store);
    const entry = (more: Partial<RequestEntry>) =>
      requestEntry({ at: NOW - 60_000, customerId: 'acme', keyId: 'AAAAAAAA', method: 'getSlot', ...more });
    const limited = { status: 'limited', rpcCode: -32_043, failure: 'RATE_LIMITED' } as const;
    log.push(entry({}), entry(limited), entry({ status: 'rpcError', rpcCode: -32_602, message: 'no' }));
    await writer.flush();
    const { byStatus, rows, codes } = await invoke(store, 'errors');
    expect([sum(byStatus.limited ?? []), sum(byStatus.rpcError ?? []), sum(byStatus.ok ?? [])]).toEqual([
      7, 2, 50,
    ]);
    const at = (minute: number) => minute * MINUTE_MS;
    expect(rows).toEqual([
      {
        status: 'limited',
        method: 'getSlot',
        product: 'rpc',
        key: 'AAAAAAAA',
        keyName: 'name of AAAAAAAA',
        requests: 7,
        lastAt: at(NOW_MINUTE - 2),
      },
      {
        status: 'rpcError',
        method: 'getSlot',
        product: 'rpc',
        key: 'BBBBBBBB',
        keyName: 'name of BBBBBBBB',
        requests: 2,
        lastAt: at(NOW_MINUTE - 1),
      },
    ]);
    const example = expect.any(String);
    expect(codes).toEqual([
      {
        ...{ code: 'RATE_LIMITED', rpcCode: -32_043, text: expect.stringContaining('limit') },
        ...{ requests: 7, example },
      },
      { code: '-32602', rpcCode: -32_602, text: 'no', requests: 2, example },
    ]);
    const ofKey = await invoke(store, 'errors', { key: 'BBBBBBBB' });
    expect(ofKey.codes).toEqual([
      { code: '-32602', rpcCode: -32_602, text: null, requests: 2, example: null },
    ]);
  });

  it('lists the largest customers, keys, methods, networks, gateways and codes across all customers', async () => {
    const store = await openWithKeys(open);
    const minute = NOW_MINUTE - 90;
    const limited = { status: 'limited', code: 'RATE_LIMITED', credits: 0, latency: '' } as const;
    await storeUsage(
      store,
      'first',
      [
        usageRow({ requests: 5, minute, latency: '9:5' }),
        usageRow({ requests: 3, minute, keyId: 'BBBBBBBB', method: 'getBlock', latency: '60:3' }),
        usageRow({ requests: 7, minute: NOW_MINUTE, keyId: 'CCCCCCCC', network: 'testnet', latency: '9:7' }),
        usageRow({ requests: 2, minute: NOW_MINUTE, keyId: 'CCCCCCCC', ...limited }),
        // Has no requests and no credits.
        usageRow({ requests: 0, minute, method: 'notifications', messages: 5 }),
      ],
      'gateway-1',
    );
    await write(
      store,
      [usageRow({ requests: 1, minute, keyId: null, network: null, status: 'client' })],
      'second',
    );
    for (const rolled of [false, true]) {
      if (rolled) await rollUpAt(store, NOW + 2 * HOUR_MS);
      expect(await topOf(store, { by: 'customer' })).toEqual([
        ['other', 9],
        ['acme', 8],
        ['Default', 1],
      ]);
      expect(await topOf(store, { by: 'key', limit: 2 })).toEqual([
        ['name of CCCCCCCC', 9],
        ['name of AAAAAAAA', 5],
        'and more',
      ]);
      expect(await topOf(store, { by: 'method', sort: 'p95' })).toEqual([
        ['getBlock', 3],
        ['getSlot', 15],
      ]);
      expect(await topOf(store, { by: 'customer', sort: 'errors' }, null, 'errors')).toEqual([
        ['other', 2],
        ['Default', 1],
        ['acme', 0],
      ]);
      expect(await topOf(store, { by: 'network', sort: 'credits' }, null, 'credits')).toEqual([
        ['devnet', 16],
        ['testnet', 14],
        ['', 2],
      ]);
      expect(await topOf(store, { by: 'gateway' })).toEqual([
        ['gateway-1', 17],
        ['second', 1],
      ]);
      expect(await topOf(store, { by: 'code' })).toEqual([
        ['RATE_LIMITED', 2],
        ['', 1],
      ]);
      expect(await topOf(store, { by: 'customer', network: 'testnet' })).toEqual([['other', 7]]);
      expect(await topOf(store, { by: 'key', method: 'getBlock' })).toEqual([['name of BBBBBBBB', 3]]);
      expect(await topOf(store, { by: 'customer', code: 'RATE_LIMITED' })).toEqual([['other', 2]]);
      expect(await topOf(store, { by: 'key', code: 'RATE_LIMITED' })).toEqual([['name of CCCCCCCC', 2]]);
      const limited = await fleetOf(store, { code: 'RATE_LIMITED' });
      expect([limited.now.requests, limited.now.ok]).toEqual([2, 0]);
      expect(await topOf(store, { by: 'method' }, 'acme')).toEqual([
        ['getSlot', 5],
        ['getBlock', 3],
      ]);
      expect(await topOf(store, { by: 'code' }, 'acme')).toEqual([]);
      const { now, before, byStatus, latency } = await fleetOf(store, { method: 'getSlot' });
      expect([now.requests, now.ok, now.credits, before.requests]).toEqual([9, 7, 14, 6]);
      expect([sum(byStatus.ok), sum(byStatus.limited), latency.p99[59]]).toEqual([7, 2, 0.32]);
    }
  });

  it('sums a long range from the coarsest steps, with partial hours and days at both ends', async () => {
    const store = await openWithKeys(open);
    const minutes = [0, 1, 19, 20, 60, 1_459, 1_460, 1_700].map((offset) => EDGE_MINUTE + offset);
    await write(
      store,
      minutes.map((minute, index) => usageRow({ minute, requests: 2 ** index })),
    );
    for (const rolled of [false, true]) {
      if (rolled) await rollUpAt(store, EDGE + 2 * DAY_MS);
      for (const [from, to] of [
        [0, 8],
        [1, 7],
        [2, 6],
        [3, 5],
        [4, 5],
      ] as const) {
        const range = { from: minutes[from]! * MINUTE_MS, to: (minutes[to - 1]! + 1) * MINUTE_MS };
        const axis = axisOver('minute', range.from, range.to);
        for (const groupBy of [['method'], ['key_id']] as const) {
          let requests = 0;
          const query = { axis, filter: { customerId: 'acme' } };
          await readWholeSums(store, query, groupBy, (row) => {
            requests += row.requests;
          });
          expect(requests).toBe(2 ** to - 2 ** from);
        }
      }
    }
  });
});
