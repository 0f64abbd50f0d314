import type { NodeJson } from '../api/contract/operator.ts';
import type { Store } from '../database/open.ts';

/** A gateway as lists show it. Times are Unix milliseconds. */
export type GatewayJson = Readonly<{
  id: string;
  host: string;
  version: string;
  startedAt: number;
  seenAt: number;
}>;

/** What gateways of an older version do not tell. */
const missingFieldDefaults = { drained: false, source: 'file', hasWs: false, hasGrpc: false } as const;
type ReportedNode = Omit<NodeJson, 'gateway' | keyof typeof missingFieldDefaults> &
  Partial<Pick<NodeJson, keyof typeof missingFieldDefaults>>;

/**
 * Where a gateway of a machine, or a worker of one, answers, as that machine reaches it; null where none told of itself
 * since.
 * @param since - Unix milliseconds.
 */
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

/** Gateways that told of themselves lately, and the nodes behind each. */
export async function readGateways({ db }: Store): Promise<{ gateways: GatewayJson[]; nodes: NodeJson[] }> {
  const rows = await db
    .selectFrom('gateway')
    .selectAll()
    .orderBy('started_at')
    .orderBy('id')
    .limit(100)
    .execute();
  return {
    gateways: rows.map(({ id, host, version, started_at, seen_at }) => ({
      ...{ id, host, version },
      startedAt: started_at,
      seenAt: seen_at,
    })),
    nodes: rows.flatMap(({ id, nodes }) =>
      (JSON.parse(nodes) as ReportedNode[]).map((node) => ({
        ...missingFieldDefaults,
        ...node,
        gateway: id,
      })),
    ),
  };
}
