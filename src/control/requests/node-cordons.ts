import type { Network } from '../../protocol/call.ts';
import type { Store } from '../database/open.ts';
import { type AuditEntry, nextVersion, transactAndNotify, writeAudit } from '../database/transaction.ts';

/** A node that the operator took out of service. */
export type NodeCordon = Readonly<{
  network: Network;
  node: string;
  reason: string;
  /** It is not asked even when all others are out of service too, and nothing is heard from it. */
  isDrain: boolean;
}>;

/** Who does it and from where, for the audit log. */
export type CordonActor = Pick<AuditEntry, 'actor' | 'address' | 'userAgent' | 'requestId'>;

/** Nodes that are out of service; few. */
export async function readCordons({ db }: Store): Promise<NodeCordon[]> {
  const rows = await db
    .selectFrom('node_cordon')
    .select(['network', 'node', 'reason', 'is_drain'])
    .limit(1_000)
    .execute();
  return rows.map(({ is_drain, ...cordon }) => ({ ...cordon, isDrain: is_drain === 1 }));
}

/** Takes a node out of service, or says again why it is. @param nowMs - Unix milliseconds. */
export function cordonNode(store: Store, cordon: NodeCordon, act: CordonActor, nowMs: number): Promise<void> {
  const { network, node, reason, isDrain } = cordon;
  const action = isDrain ? 'node.drain' : 'node.cordon';
  return transactAndNotify(store, async (trx) => {
    const version = await nextVersion(trx);
    const columns = { reason, actor: act.actor, at: nowMs, is_drain: isDrain ? 1 : 0 };
    await trx
      .insertInto('node_cordon')
      .values({ network, node, ...columns })
      .onConflict((conflict) => conflict.columns(['network', 'node']).doUpdateSet(columns))
      .execute();
    const detail = { network, node, reason };
    await writeAudit(trx, version, { ...act, at: nowMs, action, keyId: null, detail });
  });
}

/** Puts a node back into service. @returns whether it was out of it. */
export function uncordonNode(
  store: Store,
  { network, node }: Pick<NodeCordon, 'network' | 'node'>,
  act: CordonActor,
  nowMs: number,
): Promise<boolean> {
  return transactAndNotify(store, async (trx) => {
    const version = await nextVersion(trx);
    const { numDeletedRows } = await trx
      .deleteFrom('node_cordon')
      .where('network', '=', network)
      .where('node', '=', node)
      .executeTakeFirstOrThrow();
    if (numDeletedRows === 0n) return false;
    const detail = { network, node };
    await writeAudit(trx, version, { ...act, at: nowMs, action: 'node.uncordon', keyId: null, detail });
    return true;
  });
}
