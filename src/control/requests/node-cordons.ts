import type { Network } from '../../protocol/call.ts';
import { type AuditEntry, inChange, nextVersion, writeAudit } from '../database/change.ts';
import type { Store } from '../database/open.ts';

/** A node that the operator took out of service. */
export type NodeCordon = Readonly<{ network: Network; node: string; reason: string }>;

/** Who does it and from where, for the audit log. */
export type CordonAct = Pick<AuditEntry, 'actor' | 'address' | 'userAgent' | 'requestId'>;

/** Nodes that are out of service; few. */
export const readCordons = (store: Store): Promise<NodeCordon[]> =>
  store.db.selectFrom('node_cordon').select(['network', 'node', 'reason']).limit(1_000).execute();

/** Takes a node out of service, or says again why it is. @param nowMs - Unix milliseconds. */
export function cordonNode(store: Store, cordon: NodeCordon, act: CordonAct, nowMs: number): Promise<void> {
  const { network, node, reason } = cordon;
  return inChange(store, async (trx) => {
    const version = await nextVersion(trx);
    const told = { reason, actor: act.actor, at: nowMs };
    await trx
      .insertInto('node_cordon')
      .values({ network, node, ...told })
      .onConflict((conflict) => conflict.columns(['network', 'node']).doUpdateSet(told))
      .execute();
    const detail = { network, node, reason };
    await writeAudit(trx, version, { ...act, at: nowMs, action: 'node.cordon', keyId: null, detail });
  });
}

/** Puts a node back into service. @returns whether it was out of it. */
export function uncordonNode(
  store: Store,
  { network, node }: Omit<NodeCordon, 'reason'>,
  act: CordonAct,
  nowMs: number,
): Promise<boolean> {
  return inChange(store, async (trx) => {
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
