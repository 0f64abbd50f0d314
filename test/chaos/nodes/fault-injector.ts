import { createRandom, type Random } from '../../fuzz/engine/mutate.ts';
import { waitUntil } from '../../programs/pace.ts';
import { type FaultHistory, injectedFaults } from './fault-history.ts';
import type { FaultyNode } from './faulty-node.ts';

/** Random decisions that are reproducible with the same seed. */
export class SeededRandom {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = createRandom(seed);
  }

  between(least: number, most: number): number {
    return least + (this.#random() / 2 ** 32) * (most - least);
  }

  /** @param share - probability, 0 to 1. */
  happens(share: number): boolean {
    return this.between(0, 1) < share;
  }

  oneOf<T>(list: readonly T[]): T {
    return list[this.#random() % list.length] as T;
  }
}

/** Share of rounds in which no node is spared from faults. */
const NONE_SPARED_SHARE = 0.15;

const spans = {
  /** Durations of rounds with and without a spared node. */
  spared: [20_000, 60_000],
  noneSpared: [3_000, 12_000],
  healthy: [300, 5_000],
  faulty: [500, 15_000],
} as const;

/**
 * Injects faults into nodes independently, so that several may fail at once. In most rounds, one node is spared, so
 * that long reads are answerable, too. The seed determines faults and durations.
 */
export class FaultInjector {
  readonly #nodes: readonly FaultyNode[];
  readonly #faultHistory: FaultHistory;
  readonly #seed: number;
  #healthyNode: FaultyNode | null = null;

  constructor(nodes: readonly FaultyNode[], faultHistory: FaultHistory, seed: number) {
    this.#nodes = nodes;
    this.#faultHistory = faultHistory;
    this.#seed = seed;
  }

  async run(isOver: () => boolean): Promise<void> {
    await Promise.all([
      this.#rounds(new SeededRandom(this.#seed), isOver),
      ...this.#nodes.map((node, at) => this.#life(node, at, new SeededRandom(this.#seed + 1 + at), isOver)),
    ]);
  }

  async #rounds(random: SeededRandom, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      this.#healthyNode = random.happens(NONE_SPARED_SHARE) ? null : random.oneOf(this.#nodes);
      const [least, most] = this.#healthyNode === null ? spans.noneSpared : spans.spared;
      const end = performance.now() + random.between(least, most);
      await waitUntil(() => isOver() || performance.now() >= end);
    }
  }

  async #life(node: FaultyNode, at: number, random: SeededRandom, isOver: () => boolean): Promise<void> {
    for (;;) {
      const healthyUntil = performance.now() + random.between(...spans.healthy);
      const isSpared = (): boolean => this.#healthyNode === node;
      await waitUntil(() => isOver() || (performance.now() >= healthyUntil && !isSpared()));
      if (isOver()) return;
      const fault = random.oneOf(injectedFaults);
      const faultyUntil = performance.now() + random.between(...spans.faulty);
      const period = this.#faultHistory.start(at, fault, performance.now());
      await node.inject(fault, random);
      await waitUntil(() => isOver() || isSpared() || performance.now() >= faultyUntil);
      await node.recover();
      this.#faultHistory.end(period, performance.now());
    }
  }
}
