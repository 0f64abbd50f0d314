import { unlessAborted } from '../base/concurrency/unless-aborted.ts';
import type { Logger } from '../base/log.ts';
import type { Call, Network, PendingCall, ResponseHandler } from '../protocol/call.ts';
import { Failure, networkNotServed } from '../protocol/errors.ts';
import { noopPendingCall } from '../protocol/rpc-dispatcher.ts';
import type { GenesisHashes } from './genesis-hash.ts';
import { defaultUpstreamLimits, type UpstreamLimits } from './limits.ts';
import type { NodesByNetwork } from './node.ts';
import { NodeRegistry } from './node-registry.ts';
import { statusOf } from './node-status.ts';
import { executeWithRetry } from './retry/executor.ts';
import type { UpstreamPool } from './upstream-pool.ts';

export type UpstreamPoolOptions = Readonly<{
  nodes: NodesByNetwork;
  limits?: Partial<UpstreamLimits>;
  /** Default: those of the standard networks. */
  genesisHashes?: GenesisHashes;
  log: Logger;
}>;

/** `dispatch` fails with NETWORK_NOT_SERVED for a network without nodes. For other errors, see `executeWithRetry`. */
export function createUpstreamPool(options: UpstreamPoolOptions): UpstreamPool {
  const registry = new NodeRegistry(
    options.nodes,
    { ...defaultUpstreamLimits, ...options.limits },
    options.log,
    options.genesisHashes,
  );

  const dispatch = (call: Call, handler: ResponseHandler): PendingCall => {
    const group = registry.sets.get(call.network)?.group;
    if (group !== undefined && group.serving.length > 0) return executeWithRetry(group, call, handler);
    const { network } = call;
    handler.onError(
      group === undefined
        ? networkNotServed(network, registry.networks)
        : new Failure('UPSTREAM_UNAVAILABLE', { facts: { network } }),
    );
    return noopPendingCall;
  };

  const setCordon = (network: Network, name: string, reason: string | null): boolean => {
    const node = registry.find(network, name);
    if (node === undefined) return false;
    node.cordon = reason;
    registry.sets.get(network)?.group.refresh();
    return true;
  };

  return {
    dispatch,
    start: () => registry.start(),
    stop: async () => registry.stop(),
    status: () =>
      registry.all().flatMap((nodes) => nodes.map((node) => statusOf(node, nodes, registry.isDrained(node)))),
    networks: () => registry.networks,
    attemptsOf: (network, name) => registry.find(network, name)?.attempts ?? null,
    slotAt: (network, commitment) => registry.sets.get(network)?.group.heads.at(commitment) ?? null,
    nodesOf: (network) => registry.sets.get(network)?.group.serving ?? [],
    nodesFor: (network, method) => registry.sets.get(network)?.group.nodesFor(method) ?? [],
    cordon: setCordon,
    uncordon: (network, name) => setCordon(network, name, null),
    drain: (drained) => registry.drain(drained),
    change: (nodes, changed) => registry.change(nodes, { ...defaultUpstreamLimits, ...changed }),
    waitUntilReady: (timeoutMs) =>
      unlessAborted(registry.waitForFirstResponses(), AbortSignal.timeout(timeoutMs)).then(
        () => true,
        () => false,
      ),
  };
}
