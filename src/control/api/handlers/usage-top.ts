import type { Store } from '../../database/store.ts';
import { readTopNodes } from '../../nodes/read-node-history.ts';
import { readTop } from '../../usage/read-top.ts';
import { type Axis, type GroupColumn, type UsageQuery, usageUpdatedAt } from '../../usage/read-usage.ts';
import type { ParsedRouteInput, RouteOutput } from '../contract/contract.ts';
import { callerKeyOf, defineHandlers } from '../handler.ts';
import { type ApiServices, usageReaderOf } from '../services.ts';
import { limitReads } from './limit-reads.ts';
import { axisOf, toAxisJson } from './usage-range.ts';

type TopQuery = ParsedRouteInput<'GET /usage/top'>['query'];
type Row = RouteOutput<'GET /usage/top'>['rows'][number];
type Labels = ReadonlyMap<string, Readonly<{ label: string; customer?: Row['customer'] }>>;

const columns = {
  customer: 'customer_id',
  key: 'key_id',
  method: 'method',
  network: 'network',
  gateway: 'epoch',
  code: 'code',
} as const satisfies Partial<Record<TopQuery['by'], GroupColumn>>;

async function labelsOf({ db }: Store, by: TopQuery['by'], names: readonly string[]): Promise<Labels> {
  if (names.length === 0) return new Map();
  if (by === 'customer') {
    const rows = await db.selectFrom('customer').select(['id', 'name']).where('id', 'in', names).execute();
    return new Map(rows.map(({ id, name }) => [id, { label: name }]));
  }
  if (by === 'key') {
    const keys = await db
      .selectFrom('api_key')
      .innerJoin('customer', 'customer.id', 'api_key.customer_id')
      .select(['api_key.id', 'api_key.name', 'customer.id as customerId', 'customer.name as customerName'])
      .where('api_key.id', 'in', names)
      .execute();
    return new Map(
      keys.map(({ id, name, customerId, customerName }) => [
        id,
        { label: name || id, customer: { id: customerId, name: customerName } },
      ]),
    );
  }
  if (by !== 'gateway') return new Map();
  const runs = await db
    .selectFrom('usage_epoch')
    .select(['epoch', 'gateway'])
    .where('epoch', 'in', names)
    .execute();
  return new Map(runs.map(({ epoch, gateway }) => [epoch, { label: gateway || epoch }]));
}

async function topRows(
  services: ApiServices,
  axis: Axis,
  query: TopQuery,
  customerId: string | null,
): Promise<Pick<RouteOutput<'GET /usage/top'>, 'rows' | 'hasMore'>> {
  const { store } = services;
  const { by, sort, limit, product, method, network, code } = query;
  if (by === 'node') {
    const nodes = await readTopNodes(store, axis, network);
    const sizeOf = ({ requests, errors, latency }: (typeof nodes)[number]): number =>
      ({ requests, errors, credits: requests, p95: latency.p95 ?? -1 })[sort];
    const rows = nodes.sort((a, b) => sizeOf(b) - sizeOf(a)).slice(0, limit);
    return {
      rows: rows.map((row) => ({ ...row, label: row.name, customer: null, credits: null })),
      hasMore: nodes.length > limit,
    };
  }
  const filter = { customerId, product, method, network, code, failed: by === 'code' ? true : undefined };
  const usage: UsageQuery = { axis, filter };
  const largest = await readTop(usageReaderOf(services), usage, columns[by], sort, limit);
  const rows = largest.slice(0, limit);
  const labels = await labelsOf(
    store,
    by,
    rows.map(({ name }) => name),
  );
  return {
    rows: rows.map((row) => ({ ...row, label: row.name, customer: null, ...labels.get(row.name) })),
    hasMore: largest.length > limit,
  };
}

export const usageTopHandlers = (services: ApiServices) => {
  const { store, now } = services;
  // Each customer or operator gets one list at a time; the page of all customers calls several.
  const limitRead = limitReads('usage lists');
  const readTopList = (
    query: TopQuery,
    customerId: string | null,
    owner: string,
  ): Promise<RouteOutput<'GET /usage/top'>> =>
    limitRead(owner, async () => {
      const at = now();
      const axis = await axisOf(store, query, at);
      const top = await topRows(services, axis, query, customerId);
      return { axis: toAxisJson(axis), ...top, updatedAt: await usageUpdatedAt(store, at) };
    });
  return defineHandlers({
    'GET /usage/top': ({ query }, { caller }) => readTopList(query, null, callerKeyOf(caller)),
    'GET /customers/{customer}/usage/top': ({ path: { customer }, query }) =>
      readTopList(query, customer, `customer ${customer}`),
  });
};
