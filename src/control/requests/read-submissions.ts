import { type Selectable, type SqlBool, sql } from 'kysely';
import { chunk } from '../../base/chunk.ts';
import { type JsonValue, parseJson } from '../../base/json.ts';
import type { Network, RpcDispatcher } from '../../protocol/call.ts';
import { methodRow } from '../../protocol/methods.ts';
import { request } from '../../protocol/rpc-dispatcher.ts';
import type { RouteOutput } from '../api/contract/contract.ts';
import { selectRows } from '../database/rows.ts';
import type { Store } from '../database/store.ts';
import type { SubmissionTable } from '../database/tables/requests.ts';

export type SubmissionRow = Selectable<SubmissionTable>;

/** Returns submissions, newest first. `before` is the last id of the previous page. */
export function readSubmissions(
  { db }: Store,
  customerId: string,
  { signature, key }: Readonly<{ signature?: string | undefined; key?: string | undefined }>,
  limit: number,
  before: string | null,
): Promise<SubmissionRow[]> {
  let query = selectRows(db, 'submission', { signature, key_id: key });
  // SQLite would read all transactions of the customer instead of the few with the signature.
  if (signature === undefined) query = query.where('customer_id', '=', customerId);
  else query = query.where(sql<SqlBool>`customer_id || '' = ${customerId}`);
  if (before !== null) query = query.where('id', '<', before);
  return query.orderBy('id', 'desc').limit(limit).execute();
}

const confirmations = ['processed', 'confirmed', 'finalized'] as const;

type SubmissionJson = RouteOutput<'GET /customers/{customer}/transactions'>['items'][number];
type ChainStatus = NonNullable<SubmissionJson['status']>;

/** Source: Agave MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS. */
const STATUSES_MAX = 256;
/** The list omits statuses that take longer to fetch. */
const CHAIN_TIMEOUT_MS = 1_000;

function statusOf(value: JsonValue | undefined): ChainStatus | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const { slot, confirmationStatus, err } = value as Readonly<Record<string, JsonValue>>;
  const confirmation = confirmations.find((one) => one === confirmationStatus);
  if (confirmation === undefined || slot === undefined) return null;
  return { slot: String(slot), confirmation, err: err == null ? null : formatError(err) };
}

const formatError = (err: JsonValue): string =>
  typeof err === 'string'
    ? err
    : JSON.stringify(err, (_, value) => (typeof value === 'bigint' ? String(value) : value));

async function fetchStatuses(source: RpcDispatcher, network: Network, signatures: readonly string[]) {
  const params = Buffer.from(JSON.stringify([signatures, { searchTransactionHistory: true }]));
  const method = 'getSignatureStatuses';
  const signal = AbortSignal.timeout(CHAIN_TIMEOUT_MS);
  const response = await request(source, { network, method, row: methodRow(method), params }, signal);
  const found = new Map<string, ChainStatus>();
  if (response.errorCode !== 0) return found;
  const { value } = parseJson(response.body.toString('utf8')) as { value?: readonly JsonValue[] };
  signatures.forEach((signature, index) => {
    const status = statusOf(value?.[index]);
    if (status !== null) found.set(signature, status);
  });
  return found;
}

/** Current on-chain statuses by signature. Unknown statuses and failed or slow lookups are omitted. */
export async function readStatuses(
  source: RpcDispatcher | null,
  rows: readonly Pick<SubmissionRow, 'network' | 'signature'>[],
): Promise<ReadonlyMap<string, ChainStatus>> {
  if (source === null) return new Map();
  const byNetwork = Map.groupBy(rows, ({ network }) => network);
  const requests = [...byNetwork].flatMap(([network, ofNetwork]) => {
    const signatures = [...new Set(ofNetwork.map(({ signature }) => signature))];
    return chunk(signatures, STATUSES_MAX).map((part) =>
      fetchStatuses(source, network, part).catch(() => new Map<string, ChainStatus>()),
    );
  });
  return new Map((await Promise.all(requests)).flatMap((found) => [...found]));
}
