import { setTimeout as delay } from 'node:timers/promises';
import { type FaultHistory, injectedFaults } from './fault-history.ts';
import type { FaultyNode } from './faulty-node.ts';
import { SeededRandom } from './seeded-random.ts';

/** The share of rounds in which no node is spared. */
const NOBODY_SHARE = 0.15;
const LOOK_MS = 25;

/** How long things last, at least and at most. */
const spans = {
  /** A round in which one node is spared, and one in which none is. */
  excluded: [20_000, 60_000],
  nobody: [3_000, 12_000],
  well: [300, 5_000],
  ill: [500, 15_000],
} as const;

/**
 * Makes nodes ill, each for itself, so that several may be at once. In rounds one node, mostly, is spared: so there are
 * reads that can be answered also when they take long. What happens and for how long follows from the seed.
 */
export class FaultInjector {
  readonly #nodes: readonly FaultyNode[];
  readonly #ailments: FaultHistory;
  readonly #seed: number;
  #healthyNode: FaultyNode | null = null;

  constructor(nodes: readonly FaultyNode[], ailments: FaultHistory, seed: number) {
    this.#nodes = nodes;
    this.#ailments = ailments;
    this.#seed = seed;
  }

  /** Goes on until `isOver`; leaves all nodes well. */
  async run(isOver: () => boolean): Promise<void> {
    await Promise.all([
      this.#rounds(new SeededRandom(this.#seed), isOver),
      ...this.#nodes.map((node, at) => this.#life(node, at, new SeededRandom(this.#seed + 1 + at), isOver)),
    ]);
  }

  async #rounds(chance: SeededRandom, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      this.#healthyNode = chance.happens(NOBODY_SHARE) ? null : chance.oneOf(this.#nodes);
      const [least, most] = this.#healthyNode === null ? spans.nobody : spans.excluded;
      const end = performance.now() + chance.between(least, most);
      await waitUntil(() => isOver() || performance.now() >= end);
    }
  }

  async #life(node: FaultyNode, at: number, chance: SeededRandom, isOver: () => boolean): Promise<void> {
    for (;;) {
      const wellUntil = performance.now() + chance.between(...spans.well);
      const isExcluded = (): boolean => this.#healthyNode === node;
      await waitUntil(() => isOver() || (performance.now() >= wellUntil && !isExcluded()));
      if (isOver()) return;
      const illness = chance.oneOf(injectedFaults);
      const illUntil = performance.now() + chance.between(...spans.ill);
      const ailment = this.#ailments.start(at, illness, performance.now());
      await node.fallIll(illness, chance);
      await waitUntil(() => isOver() || isExcluded() || performance.now() >= illUntil);
      await node.recover();
      this.#ailments.end(ailment, performance.now());
    }
  }
}

async function waitUntil(isSo: () => boolean): Promise<void> {
  while (!isSo()) await delay(LOOK_MS);
}
