import type { Logger } from '../../base/log.ts';
import type { Network } from '../../protocol/call.ts';
import { markWrongChains } from '../genesis.ts';
import type { UpstreamNode } from '../node.ts';
import type { NodeGroup } from '../node-group.ts';
import { NodePoller } from './node-poller.ts';
import type { NodeState } from './node-state.ts';
import { reasonOf, stateOf } from './node-status-text.ts';

/** Polls of several nodes drift apart by this share of the interval. */
const JITTER = 0.2;

/** A node that is watched, what ends that, its next poll, and the state in which it was last spoken of. */
type WatchedNode = {
  readonly node: UpstreamNode;
  readonly polls: NodePoller;
  readonly stop: AbortController;
  timer: NodeJS.Timeout | null;
  reportedState: NodeState;
  /** Resolves after the first poll, whatever came of it. */
  readonly polled: PromiseWithResolvers<void>;
};

/** Watches the nodes of one network: polls them, has their group look at what is known of them, logs what changes. */
export class HealthMonitor {
  readonly #group: NodeGroup;
  readonly #log: Logger;
  #nodes: readonly UpstreamNode[] = [];
  #watched: readonly WatchedNode[] = [];
  #isStarted = false;
  /** The chains of which was last said that nobody can tell which of them is right. */
  #reportedChains = '';
  readonly #firstResponse = Promise.withResolvers<void>();

  constructor(group: NodeGroup, log: Logger) {
    this.#group = group;
    this.#log = log;
  }

  /** Resolves when the first of the nodes has told its slot. */
  get firstResponse(): Promise<void> {
    return this.#firstResponse.promise;
  }

  /** Resolves when each of the nodes has been polled once, whether it answered or not. */
  async firstPolls(): Promise<void> {
    await Promise.all(this.#watched.map(({ polled }) => polled.promise));
  }

  /**
   * Watches exactly these: one that was watched before is watched on as if nothing had happened.
   * @param nodes - those of the group, and those that are not asked at the moment.
   */
  watch(nodes: readonly UpstreamNode[]): void {
    const before = this.#watched;
    const added: WatchedNode[] = [];
    this.#nodes = nodes;
    this.#watched = nodes.map((node) => {
      const existing = before.find((watched) => watched.node === node);
      const watched = existing ?? this.#createWatched(node);
      if (existing === undefined) added.push(watched);
      return watched;
    });
    for (const watched of before) if (!this.#watched.includes(watched)) stopPolling(watched);
    if (this.#isStarted) for (const watched of added) void this.#pollLoop(watched);
  }

  start(): void {
    this.#isStarted = true;
    for (const watched of this.#watched) void this.#pollLoop(watched);
  }

  stop(): void {
    for (const watched of this.#watched) stopPolling(watched);
    this.#group.stop();
  }

  #createWatched(node: UpstreamNode): WatchedNode {
    const stop = new AbortController();
    const polls = new NodePoller(node, this.#group, stop.signal);
    return { node, polls, stop, timer: null, reportedState: 'unknown', polled: Promise.withResolvers() };
  }

  /** Polls one node, then again after the interval, until stopped. */
  async #pollLoop(watched: WatchedNode): Promise<void> {
    try {
      await this.#poll(watched);
    } catch (err) {
      this.#log.error({ err, node: watched.node.name }, 'an upstream node could not be looked at');
    }
    watched.polled.resolve();
    if (watched.stop.signal.aborted) return;
    const ms = this.#group.limits.pollIntervalMs * (1 + JITTER * (2 * Math.random() - 1));
    watched.timer = setTimeout(() => void this.#pollLoop(watched), ms);
  }

  async #poll(watched: WatchedNode): Promise<void> {
    const { node, polls } = watched;
    const now = performance.now();
    const isSkipped = node.isThrottled(now) || node.circuit.isOpen(now);
    if (!isSkipped && (await polls.poll())) this.#firstResponse.resolve();
    if (watched.stop.signal.aborted) return;
    this.#logChains(markWrongChains(this.#nodes, node.network), node.network);
    this.#group.review(this.#nodes, performance.now());
    for (const one of this.#watched) this.#logState(one);
  }

  /** One line when the nodes belong to different chains and no majority says which is right. */
  #logChains(chains: Map<string, string[]> | null, network: Network): void {
    const reported =
      chains === null ? '' : [...chains].map(([hash, names]) => `${hash} (${names})`).join(', ');
    if (reported === this.#reportedChains) return;
    this.#reportedChains = reported;
    if (chains === null) return;
    this.#log.error(
      { network, chains: Object.fromEntries(chains) },
      'upstream nodes of one network belong to different chains: only one is served; run solway doctor',
    );
  }

  /** One line for a node whose state is another than when we last spoke of it. */
  #logState(watched: WatchedNode): void {
    const { node, reportedState: previous } = watched;
    const now = performance.now();
    const state = stateOf(node, now);
    if (state === previous) return;
    watched.reportedState = state;
    const fields = {
      node: node.name,
      network: node.network,
      state,
      previous,
      reason: reasonOf(node, now),
      lagSlots: Number(node.lagSlots ?? 0),
    };
    if (state === 'wrong-chain') {
      const { genesisHash } = node;
      this.#log.error(
        { ...fields, genesisHash },
        'upstream node belongs to another chain than its network: it is not asked',
      );
    } else if (state === 'healthy') this.#log.info(fields, 'upstream node is healthy');
    else this.#log.warn(fields, `upstream node is ${state}`);
  }
}

function stopPolling({ stop, timer }: WatchedNode): void {
  stop.abort();
  if (timer !== null) clearTimeout(timer);
}
