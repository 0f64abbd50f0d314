import type { Network, RpcDispatcher } from '../protocol/call.ts';
import type { AttemptTotals } from './health/attempt-totals.ts';
import type { UpstreamLimits } from './limits.ts';
import type { NodesByNetwork, UpstreamNode } from './node.ts';
import type { NodeStatus } from './node-status.ts';
import type { SlotTracker } from './slots/slot-tracker.ts';

/** All nodes as one dispatcher, with retries and failover. */
export type UpstreamPool = RpcDispatcher &
  SlotTracker &
  Readonly<{
    /** Starts health monitoring. Calls are served even before that. */
    start(): void;
    /** Calls in flight fail, so drain them first. */
    stop(): Promise<void>;
    status(): readonly NodeStatus[];
    networks(): readonly Network[];
    /** null if there is no such node. */
    attemptsOf(network: Network, node: string): Readonly<AttemptTotals> | null;
    /** Nodes that may serve calls: on the right chain, not drained, and not cordoned unless all are cordoned. */
    nodesOf(network: Network): readonly UpstreamNode[];
    /** Those of `nodesOf` to which the method is routed. */
    nodesFor(network: Network, method: string): readonly UpstreamNode[];
    /**
     * Takes a node out of service as long as another node of its network is in service.
     * @param reason - shown in the status; may be empty.
     * @returns false if there is no such node.
     */
    cordon(network: Network, node: string, reason: string): boolean;
    /** @returns false if there is no such node. */
    uncordon(network: Network, node: string): boolean;
    /** Sends no calls to these nodes, even if no other node is left. @param drained - nodes as `network/name`. */
    drain(drained: ReadonlySet<string>): void;
    /** Replaces nodes and limits. Calls in flight keep their nodes. */
    change(nodes: NodesByNetwork, limits: Partial<UpstreamLimits>): void;
    /** Waits until all nodes have been polled and every network has a responding node. @returns false on timeout. */
    waitUntilReady(timeoutMs: number): Promise<boolean>;
  }>;
