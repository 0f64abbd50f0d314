import type { RouteOutput } from '../api/contract/contract.ts';
import type { ConnectionJson } from '../api/contract/logs.ts';
import type { NodeJson } from '../api/contract/operator.ts';
import { fieldsOf, selectRows } from '../database/rows.ts';
import type { Store } from '../database/store.ts';

type UpstreamsJson = RouteOutput<'GET /upstreams'>;

/** Defaults for fields that gateways running an older version do not report. */
const missingFieldDefaults = { drained: false, source: 'file', hasWs: false, hasGrpc: false } as const;
type ReportedNode = Omit<NodeJson, 'gateway' | keyof typeof missingFieldDefaults> &
  Partial<Pick<NodeJson, keyof typeof missingFieldDefaults>>;

/** URL of a gateway on `host` that has sent a heartbeat since `since`; null if there is none. */
export async function readGatewayUrl({ db }: Store, host: string, since: number): Promise<string | null> {
  const row = await db
    .selectFrom('gateway')
    .select('url')
    .where((where) => where.or([where('host', '=', host), where('host', 'like', `${host}#%`)]))
    .where('seen_at', '>=', since)
    .where('url', 'is not', null)
    .orderBy('started_at')
    .limit(1)
    .executeTakeFirst();
  return row?.url ?? null;
}

export async function readGateways({ db }: Store): Promise<Pick<UpstreamsJson, 'gateways' | 'nodes'>> {
  const rows = await selectRows(db, 'gateway', {}).orderBy('started_at').orderBy('id').limit(100).execute();
  return {
    gateways: rows.map((row) => fieldsOf(row, 'id', 'host', 'version', 'started_at', 'seen_at')),
    nodes: rows.flatMap(({ id, nodes }) =>
      (JSON.parse(nodes) as ReportedNode[]).map((node) => ({
        ...missingFieldDefaults,
        ...node,
        gateway: id,
      })),
    ),
  };
}

const ROWS_MAX = 1_000;
const HOUR_MINUTES = 60;

export async function readConnections(
  { db }: Store,
  customerId: string,
  keyId: string | undefined,
): Promise<ConnectionJson[]> {
  let query = db
    .selectFrom('connection')
    .leftJoin('api_key', 'api_key.id', 'connection.key_id')
    .selectAll('connection')
    .select('api_key.name as key_name')
    .where('connection.customer_id', '=', customerId);
  if (keyId !== undefined) query = query.where('connection.key_id', '=', keyId);
  const rows = await query.orderBy('connection.id').limit(ROWS_MAX).execute();
  return rows.map((row) => ({
    ...(JSON.parse(row.facts) as Omit<ConnectionJson, 'id' | 'kind' | 'gateway' | 'keyId' | 'keyName'>),
    ...fieldsOf(row, 'id', 'kind', 'gateway', 'key_id', 'key_name'),
  }));
}

export async function laggedLastHour({ db }: Store, customerId: string, nowMs: number): Promise<number> {
  const row = await db
    .selectFrom('lagged_minute')
    .select((select) => select.fn.sum<number | null>('connections').as('connections'))
    .where('customer_id', '=', customerId)
    .where('minute', '>', Math.floor(nowMs / 60_000) - HOUR_MINUTES)
    .executeTakeFirst();
  return Number(row?.connections ?? 0);
}
