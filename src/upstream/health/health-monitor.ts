import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import type { Call, Network } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { type MethodName, methods } from '../../protocol/methods.ts';
import { fetchGenesis, markWrongChains } from '../genesis.ts';
import type { GenesisHashes } from '../genesis-hash.ts';
import type { UpstreamNode } from '../node.ts';
import type { NodeGroup } from '../node-group.ts';
import { conditionOf } from '../node-status.ts';
import { slotIn } from '../outcome.ts';
import { attempt } from '../retry/attempt.ts';
import type { NodeState } from './node-state.ts';

/** Fraction by which the poll interval varies at random, so that the polls of several nodes drift apart. */
const JITTER = 0.2;

type WatchedNode = {
  readonly node: UpstreamNode;
  readonly polls: NodePoller;
  readonly stop: AbortController;
  reportedState: NodeState;
  readonly polled: PromiseWithResolvers<void>;
};

/** Polls the nodes of one network, updates their group, and logs state changes. */
export class HealthMonitor {
  readonly #group: NodeGroup;
  readonly #log: Logger;
  readonly #genesisHashes: GenesisHashes;
  #watched: readonly WatchedNode[] = [];
  #isStarted = false;
  #reportedChains = '';
  readonly #firstResponse = Promise.withResolvers<void>();

  constructor(group: NodeGroup, log: Logger, genesisHashes: GenesisHashes) {
    this.#group = group;
    this.#log = log;
    this.#genesisHashes = genesisHashes;
  }

  /** Resolves when every node has been polled once and at least one has responded. */
  async waitForFirstResponses(): Promise<void> {
    await Promise.all([this.#firstResponse.promise, ...this.#watched.map(({ polled }) => polled.promise)]);
  }

  /** @param nodes - all nodes of the network, including drained nodes; nodes already watched keep their state. */
  watch(nodes: readonly UpstreamNode[]): void {
    const before = this.#watched;
    this.#watched = nodes.map(
      (node) => before.find((watched) => watched.node === node) ?? this.#createWatched(node),
    );
    const removed = before.filter((watched) => !this.#watched.includes(watched));
    for (const { stop } of removed) stop.abort();
    if (this.#isStarted) this.#startPolling(this.#watched.filter((watched) => !before.includes(watched)));
  }

  start(): void {
    this.#isStarted = true;
    this.#startPolling(this.#watched);
  }

  stop(): void {
    for (const { stop } of this.#watched) stop.abort();
    this.#group.stop();
  }

  #startPolling(nodes: readonly WatchedNode[]): void {
    for (const watched of nodes) void this.#pollLoop(watched);
  }

  #createWatched(node: UpstreamNode): WatchedNode {
    const stop = new AbortController();
    const polls = new NodePoller(node, this.#group, stop.signal);
    return { node, polls, stop, reportedState: 'unknown', polled: Promise.withResolvers() };
  }

  async #pollLoop(watched: WatchedNode): Promise<void> {
    const { signal } = watched.stop;
    while (!signal.aborted) {
      try {
        await this.#poll(watched);
      } catch (err) {
        this.#log.error({ err, node: watched.node.name }, 'Health check failed with an internal error');
      }
      watched.polled.resolve();
      const ms = this.#group.limits.pollIntervalMs * (1 + JITTER * (2 * Math.random() - 1));
      await sleep(ms, undefined, { signal }).catch(() => undefined);
    }
  }

  async #poll(watched: WatchedNode): Promise<void> {
    const { node, polls } = watched;
    const now = performance.now();
    const isSkipped = node.isThrottled(now) || node.circuit.isOpen(now);
    if (!isSkipped && (await polls.poll())) this.#firstResponse.resolve();
    if (watched.stop.signal.aborted) return;
    const nodes = this.#watched.map((one) => one.node);
    this.#logChains(markWrongChains(nodes, node.network, this.#genesisHashes), node.network);
    this.#group.review(nodes, performance.now());
    for (const one of this.#watched) this.#logState(one);
  }

  /** Logs once when nodes are on different chains, with no majority and no node on the well-known chain. */
  #logChains(chains: Map<string, string[]> | null, network: Network): void {
    const reported =
      chains === null ? '' : [...chains].map(([hash, names]) => `${hash} (${names})`).join(', ');
    if (reported === this.#reportedChains) return;
    this.#reportedChains = reported;
    if (chains === null) return;
    this.#log.error(
      { network, chains: Object.fromEntries(chains) },
      'Upstream nodes of one network are on different chains; serving only one chain; run solway doctor',
    );
  }

  #logState(watched: WatchedNode): void {
    const { node, reportedState: previous } = watched;
    const { name, network, lagSlots, genesisHash } = node;
    const { state, reason } = conditionOf(node, performance.now());
    if (state === previous) return;
    watched.reportedState = state;
    const fields = { node: name, network, state, previous, reason, lagSlots: Number(lagSlots ?? 0) };
    if (state === 'wrong-chain')
      this.#log.error(
        { ...fields, genesisHash },
        'Upstream node is on the wrong chain and receives no calls',
      );
    else if (state === 'healthy') this.#log.info(fields, 'Upstream node is healthy');
    else this.#log.warn(fields, `Upstream node is ${state}`);
  }
}

/** Maximum number of consecutive polls that live responses may replace. */
const SKIPPED_POLLS_MAX = 4;
/** A chain head is idle if it has not been read for this many poll intervals. */
const HEAD_IDLE_POLLS = 10;
/** Multiplies the poll interval of getMaxShredInsertSlot if the node returns no slot. */
const REJECTED_BACKOFF_FACTOR = 10;

/** Polled on demand; `finalized` is also polled rarely without demand, for the caches. `processed` is always polled. */
const settledCommitments = ['confirmed', 'finalized'] as const;

const paramsOf = (commitment: Commitment): Buffer => Buffer.from(`[{"commitment":"${commitment}"}]`);

export class NodePoller {
  readonly #node: UpstreamNode;
  readonly #group: NodeGroup;
  readonly #signal: AbortSignal;
  #skipped = 0;
  #polledAt = Number.NEGATIVE_INFINITY;
  #shredsDueAt = 0;
  #historyDueAt = 0;

  constructor(node: UpstreamNode, group: NodeGroup, signal: AbortSignal) {
    this.#node = node;
    this.#group = group;
    this.#signal = signal;
  }

  /** Runs the polls that are due. @returns whether the node's slot is known. */
  async poll(): Promise<boolean> {
    const node = this.#node;
    if (this.#canSkip()) this.#skipped++;
    else if (!(await this.#pollSlot('processed'))) return false;
    await fetchGenesis(node, this.#group.limits.pollTimeoutMs, this.#signal);
    for (const commitment of settledCommitments)
      if (this.#isDue(commitment)) await this.#pollSlot(commitment);
    await this.#pollShreds();
    await this.#pollHistory();
    // Only slots observed after this time can replace the next poll.
    this.#polledAt = performance.now();
    return true;
  }

  /** Whether live responses replace this poll: never if the node is failing or ejected, else at most a few in a row. */
  #canSkip(): boolean {
    const { slots, isFailing, ejectionReason, isGenesisFetched } = this.#node;
    if (!isGenesisFetched || isFailing || ejectionReason !== null || this.#skipped >= SKIPPED_POLLS_MAX)
      return false;
    return slots.observedAt('processed') > this.#polledAt;
  }

  #isDue(commitment: Commitment): boolean {
    const { pollIntervalMs } = this.#group.limits;
    const now = performance.now();
    const idleMs = HEAD_IDLE_POLLS * pollIntervalMs;
    const ageMs = now - this.#node.slots.observedAt(commitment);
    if (this.#group.heads.isInUse(commitment, idleMs, now)) return ageMs > pollIntervalMs / 2;
    return commitment === 'finalized' && ageMs > idleMs;
  }

  async #pollSlot(commitment: Commitment): Promise<boolean> {
    const node = this.#node;
    const { outcome, elapsedMs } = await this.#request('getSlot', paramsOf(commitment));
    if (commitment === 'processed') {
      this.#skipped = 0;
      node.recordPoll(outcome, elapsedMs);
    } else node.recordOptionalPoll(outcome);
    const slot = slotIn(outcome);
    if (slot === null) return false;
    const now = performance.now();
    node.slots.recordPoll(commitment, slot, now);
    this.#group.updateHeads(now);
    return true;
  }

  async #pollShreds(): Promise<void> {
    if (performance.now() < this.#shredsDueAt) return;
    const { shredsIntervalMs } = this.#group.limits;
    const { outcome } = await this.#request('getMaxShredInsertSlot', null);
    const received = slotIn(outcome);
    this.#node.recordOptionalPoll(outcome);
    this.#node.slots.received = received;
    const factor = received === null ? REJECTED_BACKOFF_FACTOR : 1;
    this.#shredsDueAt = performance.now() + shredsIntervalMs * factor;
  }

  /** Skipped if only one node is serving, because the history only affects node selection. */
  async #pollHistory(): Promise<void> {
    if (performance.now() < this.#historyDueAt || this.#group.serving.length < 2) return;
    const { outcome } = await this.#request('getFirstAvailableBlock', null);
    this.#node.recordOptionalPoll(outcome);
    if (outcome.kind === 'response') this.#node.capabilities.firstAvailable = slotIn(outcome);
    this.#historyDueAt = performance.now() + this.#group.limits.historyIntervalMs;
  }

  #request(method: MethodName, params: Buffer | null): ReturnType<typeof attempt> {
    const call: Call = { network: this.#node.network, method, row: methods[method], params };
    return attempt(this.#node, call, this.#group.limits.pollTimeoutMs, this.#signal);
  }
}
