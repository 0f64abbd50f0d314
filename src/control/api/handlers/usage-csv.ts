import type { Store } from '../../database/open.ts';
import { type Axis, stepMs } from '../../usage/queries/axis.ts';
import { exportUsage } from '../../usage/queries/export-usage.ts';
import type { UsageFilter } from '../../usage/queries/read-usage.ts';
import type { Handler } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { csvLine } from './csv-line.ts';
import { axisOf } from './usage-range.ts';
import { filterOf, keyNames } from './usage-totals.ts';

const NAME = 'GET /customers/{customer}/usage.csv';

const HEAD = [
  'time',
  'key',
  'key_name',
  'product',
  'method',
  'status',
  'requests',
  'credits',
  'bytes_in',
  'bytes_out',
  'messages',
] as const;

async function* linesOf(store: Store, axis: Axis, filter: UsageFilter): AsyncGenerator<string> {
  yield csvLine(HEAD);
  for await (const rows of exportUsage(store, axis, filter)) {
    const names = await keyNames(store, [...new Set(rows.map(({ key_id }) => key_id))]);
    const lines = rows.map(({ bucket, key_id, product, method, status, ...counts }) =>
      csvLine([
        new Date(bucket * stepMs[axis.step]).toISOString(),
        key_id,
        names.get(key_id) ?? '',
        product,
        method,
        status,
        counts.requests,
        counts.credits,
        counts.bytes_in,
        counts.bytes_out,
        counts.messages,
      ]),
    );
    yield lines.join('\r\n');
  }
}

/** The rows behind the charts of usage, as they are read: a table of any length takes little memory. */
export const usageCsv =
  ({ store, now }: ApiServices): Handler<typeof NAME> =>
  async ({ path: { customer }, query }) => {
    const axis = await axisOf(store, query, now());
    return linesOf(store, axis, await filterOf(store, customer, query));
  };
