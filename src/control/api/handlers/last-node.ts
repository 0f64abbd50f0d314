import type { Network } from '../../../protocol/call.ts';
import { readGateways } from '../../requests/read-gateways.ts';
import { ApiError } from '../api-error.ts';
import type { ApiServices } from '../services.ts';

/**
 * A network without a node answers nobody: a last one is drained or removed on purpose only.
 * @throws ApiError 409
 */
export async function checkNotLast({ store }: ApiServices, network: Network, name: string): Promise<void> {
  const { nodes } = await readGateways(store);
  const own = nodes.filter((node) => node.network === network);
  const isInService = own.some((node) => node.name === name && !node.drained);
  if (!isInService || own.some((node) => node.name !== name && !node.drained)) return;
  throw new ApiError(
    409,
    'LAST_NODE',
    `${name} is the last node of ${network}, and without it no call is answered: add another first, or force it`,
  );
}
