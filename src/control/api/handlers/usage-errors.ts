import type { Store } from '../../database/open.ts';
import { type Axis, stepMs } from '../../usage/queries/axis.ts';
import { sumsOf, type UsageFilter, wholeSumsOf } from '../../usage/queries/read-usage.ts';
import { usageUpdatedAt } from '../../usage/queries/updated-at.ts';
import type { RouteOutput } from '../contract/contract.ts';
import type { Handler } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { loggedCodes } from './logged-codes.ts';
import { axisOf, toAxisJson } from './usage-range.ts';
import { addAt, filterOf, noStatuses } from './usage-totals.ts';

const NAME = 'GET /customers/{customer}/errors';
type Errors = RouteOutput<typeof NAME>;
type Row = Errors['rows'][number];

/** Rows that are shown, the largest first. */
const ROWS_MAX = 200;

async function readStatuses(store: Store, axis: Axis, filter: UsageFilter): Promise<Errors['byStatus']> {
  const byStatus = noStatuses(axis);
  for await (const rows of sumsOf(store, axis, filter, ['status'])) {
    for (const { at, status, requests } of rows) addAt(byStatus[status], at, requests);
  }
  return byStatus;
}

async function readRows(store: Store, axis: Axis, filter: UsageFilter): Promise<Row[]> {
  const found = new Map<string, Row>();
  const failed = { ...filter, failed: true };
  for await (const rows of wholeSumsOf(store, axis, failed, ['status', 'method', 'product', 'key_id'])) {
    for (const { status, method, product, key_id: key, requests, last_minute } of rows) {
      if (requests === 0) continue;
      const name = `${status} ${method} ${product} ${key}`;
      const row = found.get(name) ?? { status, method, product, key, requests: 0, lastAt: 0 };
      row.requests += requests;
      row.lastAt = Math.max(row.lastAt, last_minute * stepMs.minute);
      found.set(name, row);
    }
  }
  return [...found.values()].sort((a, b) => b.requests - a.requests).slice(0, ROWS_MAX);
}

/** What did not give a result. */
export const usageErrors =
  ({ store, now }: ApiServices): Handler<typeof NAME> =>
  async ({ path: { customer }, query }) => {
    const at = now();
    const axis = await axisOf(store, query, at);
    const filter = await filterOf(store, customer, query);
    return {
      axis: toAxisJson(axis),
      byStatus: await readStatuses(store, axis, filter),
      rows: await readRows(store, axis, filter),
      codes: await loggedCodes(store, axis, filter),
      updatedAt: await usageUpdatedAt(store, at),
    };
  };
