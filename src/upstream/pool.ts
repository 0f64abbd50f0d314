import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../base/log.ts';
import type { Call, Network, PendingCall, ResponseHandler, RpcDispatcher } from '../protocol/call.ts';
import { Failure, networkNotServed } from '../protocol/errors.ts';
import { noopPendingCall } from '../protocol/rpc-dispatcher.ts';
import { defaultUpstreamLimits, type UpstreamLimits } from './limits.ts';
import type { UpstreamNode } from './node.ts';
import { NodeRegistry, type NodesByNetwork } from './node-registry.ts';
import { type NodeStatus, statusOf } from './node-status.ts';
import { executeWithRetry } from './retry/executor.ts';
import type { SlotTracker } from './slots/slot-tracker.ts';

export type UpstreamPoolOptions = Readonly<{
  nodes: NodesByNetwork;
  limits?: Partial<UpstreamLimits>;
  log: Logger;
}>;

/** The nodes of all networks as one source, with retries and failover inside. */
export type UpstreamPool = RpcDispatcher &
  SlotTracker &
  Readonly<{
    /** Begins to watch the nodes. Calls are answered before that too. */
    start(): void;
    /** Stops watching and closes every connection. What is under way fails: drain first. */
    stop(): Promise<void>;
    status(): readonly NodeStatus[];
    /** Networks that have nodes. */
    networks(): readonly Network[];
    /** Those of a network that may be asked: of the right chain, and in service unless none is. */
    nodesOf(network: Network): readonly UpstreamNode[];
    /**
     * Takes a node out of service: no call goes there while another of its network is in service.
     * @param reason - shown in its status; may be empty.
     * @returns whether there is such a node.
     */
    cordon(network: Network, node: string, reason: string): boolean;
    /** Puts it back into service. @returns whether there is such a node. */
    uncordon(network: Network, node: string): boolean;
    /** Lets calls go to all nodes but these, also where none is left. @param drained - as `network/name`. */
    drain(drained: ReadonlySet<string>): void;
    /** Makes nodes and limits these. Calls under way go on with the nodes and the time that they began with. */
    change(nodes: NodesByNetwork, limits: Partial<UpstreamLimits>): void;
    /** Waits at most so long until all nodes were polled. @returns whether every network with nodes has one that answered. */
    waitUntilReady(timeoutMs: number): Promise<boolean>;
  }>;

/**
 * The upstream pool: answers calls from whichever node of the call's network can.
 * `ask` throws Failure NETWORK_NOT_SERVED for a network without nodes; see askNodes for the rest.
 */
export function createUpstreamPool(options: UpstreamPoolOptions): UpstreamPool {
  const registry = new NodeRegistry(
    options.nodes,
    { ...defaultUpstreamLimits, ...options.limits },
    options.log,
  );

  const dispatch = (call: Call, handler: ResponseHandler): PendingCall => {
    const group = registry.groupOf(call.network);
    if (group !== null && group.serving.length > 0) return executeWithRetry(group, call, handler);
    const { network } = call;
    handler.onError(
      group === null
        ? networkNotServed(network, registry.networks)
        : new Failure('UPSTREAM_UNAVAILABLE', { facts: { network } }),
    );
    return noopPendingCall;
  };

  const setCordon = (network: Network, name: string, reason: string | null): boolean => {
    const node = registry.find(network, name);
    if (node === undefined) return false;
    node.cordon = reason;
    registry.groupOf(network)?.refresh();
    return true;
  };

  return {
    dispatch,
    start: () => registry.start(),
    stop: async () => registry.stop(),
    status: () =>
      registry.all().flatMap((nodes) => nodes.map((node) => statusOf(node, nodes, registry.isDrained(node)))),
    networks: () => registry.networks,
    slotAt: (network, commitment) => registry.groupOf(network)?.headAt(commitment) ?? null,
    nodesOf: (network) => registry.groupOf(network)?.serving ?? [],
    cordon: setCordon,
    uncordon: (network, name) => setCordon(network, name, null),
    drain: (drained) => registry.drain(drained),
    change: (nodes, changed) => registry.change(nodes, { ...defaultUpstreamLimits, ...changed }),
    async waitUntilReady(timeoutMs) {
      const cancel = new AbortController();
      const timeout = sleep(timeoutMs, false, { signal: cancel.signal }).catch(() => false);
      const ready = registry.waitForFirstResponses().then(() => true);
      const result = await Promise.race([ready, timeout]);
      cancel.abort();
      return result;
    },
  };
}
