import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../base/log.ts';
import type { Slot } from '../ledger/units.ts';
import {
  type Asked,
  type Asker,
  type Call,
  type DirectSource,
  type Network,
  networks,
} from '../protocol/call.ts';
import { askDirectly } from '../protocol/direct-source.ts';
import { Failure } from '../protocol/errors.ts';
import { askNodes } from './ask.ts';
import { HealthWatch } from './health.ts';
import { defaultUpstreamLimits, type UpstreamLimits } from './limits.ts';
import { type NodeConfig, type NodeState, UpstreamNode } from './node.ts';

export type UpstreamPoolOptions = Readonly<{
  nodes: Readonly<Partial<Record<Network, readonly NodeConfig[]>>>;
  limits?: Partial<UpstreamLimits>;
  log: Logger;
}>;

/** What is known about a node right now. Holds no URL and no secret. */
export type NodeStatus = Readonly<{
  name: string;
  network: Network;
  state: NodeState;
  /** What stands behind the state, in words; null when nothing is to be said. */
  reason: string | null;
  /** Whether the operator took it out of service. */
  cordoned: boolean;
  /** Newest processed slot it reported. */
  slot: Slot | null;
  /** Slots behind the best of its network. */
  lagSlots: bigint | null;
  latencyMs: number | null;
  inFlight: number;
  failuresInRow: number;
  /** Milliseconds since it last answered anything. */
  silentMs: number | null;
}>;

/** The nodes of all networks as one source, with retries and failover inside. */
export type UpstreamPool = DirectSource &
  Readonly<{
    /** Begins to watch the nodes. Calls are answered before that too. */
    start(): void;
    /** Stops watching and closes every connection. What is under way fails: drain first. */
    stop(): Promise<void>;
    status(): readonly NodeStatus[];
    /**
     * Takes a node out of service: no call goes there while another of its network is in service.
     * @param reason - shown in its status; may be empty.
     * @returns whether there is such a node.
     */
    cordon(network: Network, node: string, reason: string): boolean;
    /** Puts it back into service. @returns whether there is such a node. */
    uncordon(network: Network, node: string): boolean;
    /** Whether every network with nodes has one that answered, waiting for it at most so long. */
    waitUntilReady(timeoutMs: number): Promise<boolean>;
  }>;

/** There is nothing that could be left. */
const nothingAsked: Asked = { leave: () => {} };

/** What is said of a node out of service that is asked for want of others. */
const ASKED_ALL_THE_SAME = 'cordoned, and asked all the same: so is every node of the network';

function statusOf(node: UpstreamNode, ofNetwork: readonly UpstreamNode[]): NodeStatus {
  const now = performance.now();
  const cordoned = node.cordon !== null;
  const isAsked = cordoned && ofNetwork.every((other) => other.cordon !== null || other.wrongChain);
  return {
    name: node.name,
    network: node.network,
    state: isAsked && !node.wrongChain ? node.ownState(now) : node.state(now),
    reason: isAsked && !node.wrongChain ? ASKED_ALL_THE_SAME : node.reason(now),
    cordoned,
    slot: node.slot,
    lagSlots: node.lagSlots,
    latencyMs: node.latencyMs,
    inFlight: node.inFlight,
    failuresInRow: node.circuit.failuresInRow,
    silentMs: node.lastAnswerAt === null ? null : now - node.lastAnswerAt,
  };
}

function setCordon(nodes: readonly UpstreamNode[] | undefined, name: string, reason: string | null): boolean {
  const node = nodes?.find((one) => one.name === name);
  if (node === undefined) return false;
  node.cordon = reason;
  return true;
}

/**
 * The upstream pool: answers calls from whichever node of the call's network can.
 * `ask` throws Failure UPSTREAM_UNAVAILABLE (fact `network`) for a network without nodes; see askNodes for the rest.
 */
export function createUpstreamPool(options: UpstreamPoolOptions): UpstreamPool {
  const limits = { ...defaultUpstreamLimits, ...options.limits };
  const groups = new Map<Network, UpstreamNode[]>();
  for (const network of networks) {
    const nodes = (options.nodes[network] ?? []).map((config) => new UpstreamNode(config, network, limits));
    if (nodes.length > 0) groups.set(network, nodes);
  }
  const all = [...groups.values()].flat();
  const watches = [...groups.values()].map((nodes) => new HealthWatch(nodes, limits, options.log));

  const put = (call: Call, asker: Asker): Asked => {
    const nodes = groups.get(call.network);
    if (nodes !== undefined) return askNodes(nodes, call, limits, asker);
    asker.failed(new Failure('UPSTREAM_UNAVAILABLE', { facts: { network: call.network } }));
    return nothingAsked;
  };

  return {
    ask: (call, signal) => askDirectly({ put }, call, signal),
    put,
    start() {
      for (const watch of watches) watch.start();
    },
    async stop() {
      for (const watch of watches) watch.stop();
      await Promise.all(all.map((node) => node.close()));
    },
    status: () => [...groups.values()].flatMap((nodes) => nodes.map((node) => statusOf(node, nodes))),
    cordon: (network, name, reason) => setCordon(groups.get(network), name, reason),
    uncordon: (network, name) => setCordon(groups.get(network), name, null),
    async waitUntilReady(timeoutMs) {
      const cancel = new AbortController();
      const late = sleep(timeoutMs, false, { signal: cancel.signal }).catch(() => false);
      const ready = Promise.all(watches.map((watch) => watch.firstAnswer)).then(() => true);
      const result = await Promise.race([ready, late]);
      cancel.abort();
      return result;
    },
  };
}
