import type { Network } from '../../../protocol/call.ts';
import { readNodeRows } from '../../nodes/added-nodes.ts';
import { cordonNode, uncordonNode } from '../../requests/node-cordons.ts';
import { readGateways } from '../../requests/read-gateways.ts';
import { ApiError } from '../api-error.ts';
import type { Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { addedNodeJson } from './added-nodes.ts';
import { checkNotLast } from './last-node.ts';

type Names =
  | 'GET /upstreams'
  | 'POST /upstreams/{node}/cordon'
  | 'POST /upstreams/{node}/uncordon'
  | 'POST /upstreams/{node}/drain';

/** @throws ApiError 404 */
async function checkNodeExists({ store }: ApiServices, node: string, network: Network): Promise<void> {
  const { nodes } = await readGateways(store);
  if (nodes.some((one) => one.name === node && one.network === network)) return;
  throw new ApiError(
    404,
    'NOT_FOUND',
    `no gateway has a node ${node} of ${network}: GET /upstreams names them`,
  );
}

/** The nodes behind the service, and the operator's word on them. */
export const upstreamHandlers = (services: ApiServices): Handlers<Names> => ({
  async 'GET /upstreams'() {
    const [reported, rows] = await Promise.all([
      readGateways(services.store),
      readNodeRows(services.store.db),
    ]);
    return { ...reported, added: rows.map((row) => addedNodeJson(row, services.nodes?.seal ?? null)) };
  },
  async 'POST /upstreams/{node}/cordon'({ path: { node }, body: { network, reason } }, context) {
    await checkNodeExists(services, node, network);
    const cordon = { network, node, reason, isDrain: false };
    await cordonNode(services.store, cordon, context, services.now());
    return { done: true };
  },
  async 'POST /upstreams/{node}/drain'({ path: { node }, body: { network, reason, force } }, context) {
    await checkNodeExists(services, node, network);
    if (!force) await checkNotLast(services, network, node);
    const drain = { network, node, reason, isDrain: true };
    await cordonNode(services.store, drain, context, services.now());
    return { done: true };
  },
  async 'POST /upstreams/{node}/uncordon'({ path: { node }, body: { network } }, context) {
    const { store, now } = services;
    if (await uncordonNode(store, { network, node }, context, now())) return { done: true };
    throw new ApiError(409, 'NOT_CORDONED', `${node} of ${network} is neither cordoned nor drained`);
  },
});
