import type { Logger } from '../../base/log.ts';
import type { Network } from '../../protocol/call.ts';
import { markChains } from '../chain.ts';
import type { UpstreamNode } from '../node.ts';
import type { NodeGroup } from '../node-group.ts';
import { NodePolls } from './node-polls.ts';
import type { NodeState } from './node-state.ts';
import { reasonOf, stateOf } from './node-words.ts';

/** Polls of several nodes drift apart by this share of the interval. */
const JITTER = 0.2;

/** A node that is watched, what ends that, its next poll, and the state in which it was last spoken of. */
type Watched = {
  readonly node: UpstreamNode;
  readonly polls: NodePolls;
  readonly stop: AbortController;
  timer: NodeJS.Timeout | null;
  told: NodeState;
  /** Resolves after the first poll, whatever came of it. */
  readonly polled: PromiseWithResolvers<void>;
};

/** Watches the nodes of one network: polls them, has their group look at what is known of them, logs what changes. */
export class HealthWatch {
  readonly #group: NodeGroup;
  readonly #log: Logger;
  #nodes: readonly UpstreamNode[] = [];
  #watched: readonly Watched[] = [];
  #isStarted = false;
  /** The chains of which was last said that nobody can tell which of them is right. */
  #toldChains = '';
  readonly #firstAnswer = Promise.withResolvers<void>();

  constructor(group: NodeGroup, log: Logger) {
    this.#group = group;
    this.#log = log;
  }

  /** Resolves when the first of the nodes has told its slot. */
  get firstAnswer(): Promise<void> {
    return this.#firstAnswer.promise;
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
    const fresh: Watched[] = [];
    this.#nodes = nodes;
    this.#watched = nodes.map((node) => {
      const known = before.find((watched) => watched.node === node);
      const watched = known ?? this.#watchedOf(node);
      if (known === undefined) fresh.push(watched);
      return watched;
    });
    for (const watched of before) if (!this.#watched.includes(watched)) end(watched);
    if (this.#isStarted) for (const watched of fresh) void this.#round(watched);
  }

  start(): void {
    this.#isStarted = true;
    for (const watched of this.#watched) void this.#round(watched);
  }

  stop(): void {
    for (const watched of this.#watched) end(watched);
    this.#group.stop();
  }

  #watchedOf(node: UpstreamNode): Watched {
    const stop = new AbortController();
    const polls = new NodePolls(node, this.#group, stop.signal);
    return { node, polls, stop, timer: null, told: 'unknown', polled: Promise.withResolvers() };
  }

  /** Polls one node, then again after the interval, until stopped. */
  async #round(watched: Watched): Promise<void> {
    try {
      await this.#look(watched);
    } catch (err) {
      this.#log.error({ err, node: watched.node.name }, 'an upstream node could not be looked at');
    }
    watched.polled.resolve();
    if (watched.stop.signal.aborted) return;
    const ms = this.#group.limits.pollIntervalMs * (1 + JITTER * (2 * Math.random() - 1));
    watched.timer = setTimeout(() => void this.#round(watched), ms);
  }

  async #look(watched: Watched): Promise<void> {
    const { node, polls } = watched;
    const now = performance.now();
    const isLeftAlone = node.isResting(now) || node.circuit.isOpen(now);
    if (!isLeftAlone && (await polls.poll())) this.#firstAnswer.resolve();
    if (watched.stop.signal.aborted) return;
    this.#tellChains(markChains(this.#nodes, node.network), node.network);
    this.#group.review(this.#nodes, performance.now());
    for (const one of this.#watched) this.#tell(one);
  }

  /** One line when the nodes belong to different chains and no majority says which is right. */
  #tellChains(chains: Map<string, string[]> | null, network: Network): void {
    const told = chains === null ? '' : [...chains].map(([hash, names]) => `${hash} (${names})`).join(', ');
    if (told === this.#toldChains) return;
    this.#toldChains = told;
    if (chains === null) return;
    this.#log.error(
      { network, chains: Object.fromEntries(chains) },
      'upstream nodes of one network belong to different chains: only one is served; run solway doctor',
    );
  }

  /** One line for a node whose state is another than when we last spoke of it. */
  #tell(watched: Watched): void {
    const { node, told: before } = watched;
    const now = performance.now();
    const state = stateOf(node, now);
    if (state === before) return;
    watched.told = state;
    const facts = {
      node: node.name,
      network: node.network,
      state,
      before,
      reason: reasonOf(node, now),
      lagSlots: Number(node.lagSlots ?? 0),
    };
    if (state === 'wrong-chain') {
      const { genesisHash } = node;
      this.#log.error(
        { ...facts, genesisHash },
        'upstream node belongs to another chain than its network: it is not asked',
      );
    } else if (state === 'healthy') this.#log.info(facts, 'upstream node is healthy');
    else this.#log.warn(facts, `upstream node is ${state}`);
  }
}

function end({ stop, timer }: Watched): void {
  stop.abort();
  if (timer !== null) clearTimeout(timer);
}
