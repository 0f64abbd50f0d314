import { sql } from 'kysely';
import { type FailureCode, failures } from '../../../protocol/errors.ts';
import type { Store } from '../../database/open.ts';
import { firstIdAt } from '../../requests/entry-id.ts';
import { type Axis, stepMs } from '../../usage/queries/axis.ts';
import type { UsageFilter } from '../../usage/queries/read-usage.ts';
import type { RouteOutput } from '../contract/contract.ts';

type Code = RouteOutput<'GET /customers/{customer}/errors'>['codes'][number];

/** Codes that are shown, the most frequent first. */
const CODES_MAX = 50;
/** The newest entries of the log that are looked at. */
const ENTRIES_MAX = 50_000;

type CodeRow = { failure: string | null; rpc_code: number; count: number; example: string };

const codeOf = ({ failure, rpc_code }: CodeRow): string => failure ?? String(rpc_code);

const textOf = ({ failure }: CodeRow): string =>
  failure !== null && Object.hasOwn(failures, failure)
    ? failures[failure as FailureCode].text
    : 'A JSON-RPC error of the node: an example shows what it said';

/** Codes of what gave no result, with the newest entry of each, as far as the request log kept them. */
export async function loggedCodes({ db }: Store, axis: Axis, filter: UsageFilter): Promise<Code[]> {
  let entries = db
    .selectFrom('request_log')
    .select(['id', 'status', 'failure', 'rpc_code'])
    .where('customer_id', '=', filter.customerId)
    .where('id', '>=', firstIdAt(axis.from * stepMs[axis.step]))
    .where('id', '<', firstIdAt(axis.to * stepMs[axis.step]));
  if (filter.keys !== undefined) entries = entries.where('key_id', 'in', filter.keys);
  if (filter.product !== undefined) entries = entries.where('product', '=', filter.product);
  if (filter.method !== undefined) entries = entries.where('method', '=', filter.method);
  const rows = await db
    .selectFrom(entries.orderBy('id', 'desc').limit(ENTRIES_MAX).as('entry'))
    .select(['failure', 'rpc_code'])
    .select(sql<number>`cast(count(*) as bigint)`.as('count'))
    .select(sql<string>`max(id)`.as('example'))
    .where('status', '!=', 'ok')
    .groupBy(['failure', 'rpc_code'])
    .orderBy('count', 'desc')
    .limit(CODES_MAX)
    .execute();
  return rows.map((row) => ({
    code: codeOf(row),
    rpcCode: row.rpc_code === 0 ? null : row.rpc_code,
    text: textOf(row),
    count: row.count,
    example: row.example,
  }));
}
