import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../base/log.ts';
import type { Asked, Asker, Call, DirectSource, Network } from '../protocol/call.ts';
import { askDirectly } from '../protocol/direct-source.ts';
import { Failure } from '../protocol/errors.ts';
import { networkNotServed } from '../protocol/network-not-served.ts';
import { askNodes } from './ask.ts';
import type { KnownSlots } from './known-slots.ts';
import { defaultUpstreamLimits, type UpstreamLimits } from './limits.ts';
import type { UpstreamNode } from './node.ts';
import { NodeSets, type NodesByNetwork } from './node-sets.ts';
import { type NodeStatus, statusOf } from './node-status.ts';
import { nothingAsked } from './nothing-asked.ts';

export type UpstreamPoolOptions = Readonly<{
  nodes: NodesByNetwork;
  limits?: Partial<UpstreamLimits>;
  log: Logger;
}>;

/** The nodes of all networks as one source, with retries and failover inside. */
export type UpstreamPool = DirectSource &
  KnownSlots &
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
  const sets = new NodeSets(options.nodes, { ...defaultUpstreamLimits, ...options.limits }, options.log);

  const put = (call: Call, asker: Asker): Asked => {
    const group = sets.groupOf(call.network);
    if (group !== null && group.serving.length > 0) return askNodes(group, call, asker);
    const { network } = call;
    asker.failed(
      group === null
        ? networkNotServed(network, sets.networks)
        : new Failure('UPSTREAM_UNAVAILABLE', { facts: { network } }),
    );
    return nothingAsked;
  };

  const setCordon = (network: Network, name: string, reason: string | null): boolean => {
    const node = sets.find(network, name);
    if (node === undefined) return false;
    node.cordon = reason;
    sets.groupOf(network)?.settle();
    return true;
  };

  return {
    ask: (call, signal) => askDirectly({ put }, call, signal),
    put,
    start: () => sets.start(),
    stop: async () => sets.stop(),
    status: () =>
      sets.all().flatMap((nodes) => nodes.map((node) => statusOf(node, nodes, sets.isDrained(node)))),
    networks: () => sets.networks,
    slotAt: (network, commitment) => sets.groupOf(network)?.headAt(commitment) ?? null,
    nodesOf: (network) => sets.groupOf(network)?.serving ?? [],
    cordon: setCordon,
    uncordon: (network, name) => setCordon(network, name, null),
    drain: (drained) => sets.drain(drained),
    change: (nodes, changed) => sets.change(nodes, { ...defaultUpstreamLimits, ...changed }),
    async waitUntilReady(timeoutMs) {
      const cancel = new AbortController();
      const late = sleep(timeoutMs, false, { signal: cancel.signal }).catch(() => false);
      const ready = sets.answered().then(() => true);
      const result = await Promise.race([ready, late]);
      cancel.abort();
      return result;
    },
  };
}
