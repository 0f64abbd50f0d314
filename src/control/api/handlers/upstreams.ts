import { cordonNode, uncordonNode } from '../../requests/node-cordons.ts';
import { readGateways } from '../../requests/read-gateways.ts';
import { ApiError } from '../api-error.ts';
import type { Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';

type Names = 'GET /upstreams' | 'POST /upstreams/{node}/cordon' | 'POST /upstreams/{node}/uncordon';

/** The nodes behind the service, and the operator's word on them. */
export const upstreamHandlers = ({ store, now }: ApiServices): Handlers<Names> => ({
  'GET /upstreams': () => readGateways(store),
  async 'POST /upstreams/{node}/cordon'({ path: { node }, body: { network, reason } }, context) {
    const { nodes } = await readGateways(store);
    if (!nodes.some((one) => one.name === node && one.network === network)) {
      throw new ApiError(
        404,
        'NOT_FOUND',
        `no gateway has a node ${node} of ${network}: GET /upstreams names them`,
      );
    }
    await cordonNode(store, { network, node, reason }, context, now());
    return { done: true };
  },
  async 'POST /upstreams/{node}/uncordon'({ path: { node }, body: { network } }, context) {
    if (await uncordonNode(store, { network, node }, context, now())) return { done: true };
    throw new ApiError(409, 'NOT_CORDONED', `${node} of ${network} is not cordoned`);
  },
});
