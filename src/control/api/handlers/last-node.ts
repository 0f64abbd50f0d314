import type { Network } from '../../../protocol/call.ts';
import { readGateways } from '../../requests/read-gateways.ts';
import { ApiError } from '../api-error.ts';
import type { NodeJson } from '../contract/operator.ts';
import type { ApiServices } from '../services.ts';

const STREAMS_DEGRADED = 'gRPC streams end, and go on from PubSub and blocks, which tell less';

/** Those of a network that are in service, in any gateway. */
async function inService({ store }: ApiServices, network: Network): Promise<readonly NodeJson[]> {
  const { nodes } = await readGateways(store);
  return nodes.filter((node) => node.network === network && !node.drained);
}

/**
 * A network without a node answers nobody, and the one that streams are fed from without Geyser tells them less: a
 * last node is drained or removed on purpose only.
 * @throws ApiError 409
 */
export async function checkNotLast(services: ApiServices, network: Network, name: string): Promise<void> {
  const nodes = await inService(services, network);
  if (nodes.length === 0 || nodes.some((node) => node.name !== name)) {
    checkGeyserStays(services, network, name, nodes);
    return;
  }
  throw new ApiError(
    409,
    'LAST_NODE',
    `${name} is the last node of ${network}, and without it no call is answered: add another first, or force it`,
  );
}

/** @throws ApiError 409 when the node is the last with Geyser of those that gRPC streams are fed from. */
export async function checkNotLastGeyser(
  services: ApiServices,
  network: Network,
  name: string,
): Promise<void> {
  checkGeyserStays(services, network, name, await inService(services, network));
}

function checkGeyserStays(
  { service }: ApiServices,
  network: Network,
  name: string,
  nodes: readonly NodeJson[],
): void {
  const servers = nodes.filter(({ hasGrpc }) => hasGrpc);
  if (network !== service.network) return;
  if (servers.length === 0 || servers.some((node) => node.name !== name)) return;
  throw new ApiError(
    409,
    'LAST_GEYSER_NODE',
    `${name} is the last node of ${network} with Geyser, and without it ${STREAMS_DEGRADED}: add another first, or force it`,
  );
}
