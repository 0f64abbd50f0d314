import type { Logger } from '../base/log.ts';
import { type Slot, slot } from '../ledger/units.ts';
import type { Call, Network } from '../protocol/call.ts';
import { methods } from '../protocol/methods.ts';
import { attempt } from './attempt.ts';
import { learnChain, markChains } from './chain.ts';
import type { UpstreamLimits } from './limits.ts';
import type { NodeState, UpstreamNode } from './node.ts';

/** Fewer nodes than this cannot outvote one that is ahead of all. */
const OUTVOTE_MIN = 3;
/** Polls of several nodes drift apart by this share of the interval. */
const JITTER = 0.2;
const DIGITS = /^\d{1,20}$/;

const slotCall = (network: Network): Call => ({
  network,
  method: 'getSlot',
  row: methods.getSlot,
  params: Buffer.from('[{"commitment":"processed"}]'),
});

/**
 * The slot against which nodes are measured: the newest, unless a single node of three or more is ahead of all
 * others by more than may be: then it is not believed, so that one liar cannot exclude the honest.
 */
export function referenceSlot(slots: readonly Slot[], lagMaxSlots: number): Slot | null {
  const [top, second] = [...slots].sort((a, b) => (a < b ? 1 : a > b ? -1 : 0));
  if (top === undefined || second === undefined || slots.length < OUTVOTE_MIN) return top ?? null;
  return top - second > BigInt(lagMaxSlots) ? second : top;
}

/** Measures every node whose slot is known against those that still answer. */
export function markLag(nodes: readonly UpstreamNode[], lagMaxSlots: number): void {
  const answering = nodes.filter((node) => !node.circuit.tripped && !node.wrongChain);
  const known = answering.map((node) => node.slot).filter((value) => value !== null);
  const reference = referenceSlot(known, lagMaxSlots);
  for (const node of nodes) {
    if (node.slot === null || reference === null) continue;
    node.lagSlots = reference > node.slot ? reference - node.slot : 0n;
    node.behind = node.lagSlots > BigInt(lagMaxSlots);
  }
}

/** Watches the nodes of one network: polls their slots, marks laggards and strangers, logs what changes. */
export class HealthWatch {
  readonly #nodes: readonly UpstreamNode[];
  readonly #limits: UpstreamLimits;
  readonly #log: Logger;
  readonly #timers = new Map<UpstreamNode, NodeJS.Timeout>();
  readonly #told = new Map<UpstreamNode, NodeState>();
  /** The chains of which was last said that nobody can tell which of them is right. */
  #toldChains = '';
  readonly #firstAnswer = Promise.withResolvers<void>();
  readonly #stop = new AbortController();

  constructor(nodes: readonly UpstreamNode[], limits: UpstreamLimits, log: Logger) {
    this.#nodes = nodes;
    this.#limits = limits;
    this.#log = log;
  }

  /** Resolves when the first of the nodes has told its slot. */
  get firstAnswer(): Promise<void> {
    return this.#firstAnswer.promise;
  }

  start(): void {
    for (const node of this.#nodes) void this.#round(node);
  }

  stop(): void {
    this.#stop.abort();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  /** Polls one node, then again after the interval, until stopped. */
  async #round(node: UpstreamNode): Promise<void> {
    const now = performance.now();
    if (!node.isResting(now) && !node.circuit.isOpen(now)) await this.#poll(node);
    if (this.#stop.signal.aborted) return;
    this.#tellChains(markChains(this.#nodes, node.network), node.network);
    markLag(this.#nodes, this.#limits.lagMaxSlots);
    this.#tell();
    const ms = this.#limits.pollIntervalMs * (1 + JITTER * (2 * Math.random() - 1));
    this.#timers.set(
      node,
      setTimeout(() => void this.#round(node), ms),
    );
  }

  async #poll(node: UpstreamNode): Promise<void> {
    const { pollTimeoutMs } = this.#limits;
    const { outcome, elapsedMs } = await attempt(
      node,
      slotCall(node.network),
      pollTimeoutMs,
      this.#stop.signal,
    );
    node.learnFromPoll(outcome, elapsedMs);
    if (outcome.kind !== 'answer' || outcome.answer.errorCode !== 0) return;
    const text = outcome.answer.body.toString('latin1');
    if (!DIGITS.test(text)) return;
    node.slot = slot(BigInt(text));
    await learnChain(node, pollTimeoutMs, this.#stop.signal);
    this.#firstAnswer.resolve();
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

  /** One line for each node whose state is another than when we last spoke of it. */
  #tell(): void {
    const now = performance.now();
    for (const node of this.#nodes) {
      const state = node.state(now);
      const before = this.#told.get(node) ?? 'unknown';
      if (state === before) continue;
      this.#told.set(node, state);
      const facts = {
        node: node.name,
        network: node.network,
        state,
        before,
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
}
