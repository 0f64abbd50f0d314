import type { UpstreamLimits } from '../limits.ts';
import type { UpstreamNode } from '../node.ts';

/** Latency assumed for an unmeasured node: low enough to get calls, but not zero, which would attract whole bursts. */
const UNKNOWN_LATENCY_MS = 1;
/** Latencies within this ratio count as equal, to avoid flapping between nodes. */
export const CLEARLY_BETTER_RATIO = 1.3;

const latencyOf = (node: UpstreamNode): number => node.latencyMs ?? UNKNOWN_LATENCY_MS;

export const isClearlyBetter = (one: UpstreamNode, other: UpstreamNode): boolean =>
  latencyOf(one) * CLEARLY_BETTER_RATIO < latencyOf(other);

const loadScore = (node: UpstreamNode): number => (node.inFlight + 1) * latencyOf(node);

/** Picks the less busy node if latencies are similar, else the node that will probably respond first. */
export function betterOf(one: UpstreamNode, other: UpstreamNode, isOtherFirst: boolean): UpstreamNode {
  const differ = isClearlyBetter(one, other) || isClearlyBetter(other, one);
  const ofOne = differ ? loadScore(one) : one.inFlight;
  const ofOther = differ ? loadScore(other) : other.inFlight;
  if (ofOne === ofOther) return isOtherFirst ? other : one;
  return ofOther < ofOne ? other : one;
}

/** Selects among the candidates with the lowest rank. Synchronous, so that one selector can serve all calls. */
export interface NodeSelector {
  /** @param rank - lower is better; Infinity: not eligible. */
  consider(node: UpstreamNode, rank: number): void;
  /** Selects a node and resets the selector. */
  pick(): UpstreamNode | null;
}

/** Selects each of the candidates with the lowest rank in proportion to its weight. Allocates nothing. */
export class WeightedSelector implements NodeSelector {
  readonly #random: () => number;
  #rank = Number.POSITIVE_INFINITY;
  #weights = 0;
  #node: UpstreamNode | null = null;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  consider(node: UpstreamNode, rank: number): void {
    if (rank > this.#rank || rank === Number.POSITIVE_INFINITY) return;
    if (rank < this.#rank) this.#reset(rank);
    this.#weights += node.weight;
    if (this.#random() * this.#weights < node.weight) this.#node = node;
  }

  pick(): UpstreamNode | null {
    const node = this.#node;
    this.#reset(Number.POSITIVE_INFINITY);
    return node;
  }

  #reset(rank: number): void {
    this.#rank = rank;
    this.#weights = 0;
    this.#node = null;
  }
}

/** Power-of-two-choices selection among the candidates with the lowest rank. Allocates nothing. */
export class PowerOfTwoSelector implements NodeSelector {
  readonly #random: () => number;
  #rank = Number.POSITIVE_INFINITY;
  #considered = 0;
  #one: UpstreamNode | null = null;
  #other: UpstreamNode | null = null;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  consider(node: UpstreamNode, rank: number): void {
    if (rank > this.#rank || rank === Number.POSITIVE_INFINITY) return;
    if (rank < this.#rank) this.#reset(rank);
    this.#considered++;
    if (this.#considered === 1) this.#one = node;
    else if (this.#considered === 2) this.#other = node;
    else this.#replaceAtRandom(node);
  }

  pick(): UpstreamNode | null {
    const one = this.#one;
    const other = this.#other;
    this.#reset(Number.POSITIVE_INFINITY);
    if (one === null || other === null) return one;
    return betterOf(one, other, this.#random() < 0.5);
  }

  #reset(rank: number): void {
    this.#rank = rank;
    this.#considered = 0;
    this.#one = null;
    this.#other = null;
  }

  /** Reservoir sampling: each candidate has the same chance. */
  #replaceAtRandom(node: UpstreamNode): void {
    const index = Math.floor(this.#random() * this.#considered);
    if (index === 0) this.#one = node;
    else if (index === 1) this.#other = node;
  }
}

/**
 * The sticky node, one of the best healthy tier. Replaced when it is no longer healthy or another node has been
 * clearly better for `stickyMs`.
 */
export class Primary {
  readonly #limits: Pick<UpstreamLimits, 'stickyMs'>;
  node: UpstreamNode | null = null;
  #challenger: UpstreamNode | null = null;
  #since = 0;

  constructor(limits: Pick<UpstreamLimits, 'stickyMs'>) {
    this.#limits = limits;
  }

  review(nodes: readonly UpstreamNode[], now: number): void {
    const healthy = withLowest(
      'tier',
      nodes.filter((node) => node.isHealthy(now)),
    );
    const current = this.node;
    const best = healthy.reduce<UpstreamNode | null>(
      (fastest, node) => (fastest === null || isFaster(node, fastest) ? node : fastest),
      null,
    );
    if (current === null || !healthy.includes(current)) this.#move(best);
    else if (best === null || !isClearlyBetter(best, current)) this.#challenger = null;
    else this.#challenge(best, now);
  }

  #challenge(node: UpstreamNode, now: number): void {
    if (this.#challenger !== node) {
      this.#challenger = node;
      this.#since = now;
    } else if (now - this.#since >= this.#limits.stickyMs) this.#move(node);
  }

  #move(node: UpstreamNode | null): void {
    this.node = node;
    this.#challenger = null;
  }
}

const isFaster = (one: UpstreamNode, other: UpstreamNode): boolean =>
  one.latencyMs !== null && (other.latencyMs === null || one.latencyMs < other.latencyMs);

/** Returns the nodes with the lowest value, which is the best one. */
export function withLowest<Name extends 'priority' | 'tier', Node extends Readonly<Record<Name, number>>>(
  name: Name,
  nodes: readonly Node[],
): readonly Node[] {
  const best = Math.min(...nodes.map((node) => node[name]));
  return nodes.filter((node) => node[name] === best);
}

/** Whether nodes of the same tier have different weights. */
export function hasWeights(nodes: readonly UpstreamNode[]): boolean {
  const weights = new Map(nodes.map(({ tier, weight }) => [tier, weight]));
  return nodes.some(({ tier, weight }) => weights.get(tier) !== weight);
}

/** Returns the available nodes that are preferred, or all available nodes if none is preferred. */
export function selectAvailable(
  nodes: readonly UpstreamNode[],
  isPreferred: (node: UpstreamNode, now: number) => boolean,
): readonly UpstreamNode[] {
  const now = performance.now();
  const available = nodes.filter((node) => node.isAvailable(now));
  const preferred = available.filter((node) => isPreferred(node, now));
  return preferred.length > 0 ? preferred : available;
}

/** Returns the nodes on the right chain, without cordoned nodes unless all are cordoned. */
export function inService(nodes: readonly UpstreamNode[]): readonly UpstreamNode[] {
  const sameChain = nodes.filter((node) => !node.wrongChain);
  const uncordoned = sameChain.filter((node) => node.cordon === null);
  return uncordoned.length > 0 ? uncordoned : sameChain;
}
