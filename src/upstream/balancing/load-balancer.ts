import type { UpstreamNode } from '../node.ts';

/** Unknown nodes count as quick, so that they get known; not as free, or a burst would all go to one of them. */
const UNKNOWN_LATENCY_MS = 1;
/** Latencies that differ by less than this are equal: nobody is chosen for what the next answer may turn round. */
export const CLEARLY_BETTER_RATIO = 1.3;

const latencyOf = (node: UpstreamNode): number => node.latencyMs ?? UNKNOWN_LATENCY_MS;

/** Whether one latency is clearly better than another. */
export const isClearlyBetter = (one: UpstreamNode, other: UpstreamNode): boolean =>
  latencyOf(one) * CLEARLY_BETTER_RATIO < latencyOf(other);

/** What asking this node now would roughly cost: its latency, times those who wait already. */
const loadScore = (node: UpstreamNode): number => (node.inFlight + 1) * latencyOf(node);

/**
 * The better of two: of those that are about as quick the less busy one, else the one that is likely to answer first.
 * @param isOtherFirst - decides where nothing else does.
 */
export function betterOf(one: UpstreamNode, other: UpstreamNode, isOtherFirst: boolean): UpstreamNode {
  const differ = isClearlyBetter(one, other) || isClearlyBetter(other, one);
  const ofOne = differ ? loadScore(one) : one.inFlight;
  const ofOther = differ ? loadScore(other) : other.inFlight;
  if (ofOne === ofOther) return isOtherFirst ? other : one;
  return ofOther < ofOne ? other : one;
}

/**
 * Draws two of those that are offered, each with the same chance, and gives the better: load spreads, and a slow node
 * gets less. It keeps what is offered with the lowest rank only. One is made for all calls: nothing is made to choose.
 */
export class PowerOfTwoSelector {
  readonly #random: () => number;
  #rank = Number.POSITIVE_INFINITY;
  #considered = 0;
  #one: UpstreamNode | null = null;
  #other: UpstreamNode | null = null;

  /** @param random - uniform in [0, 1). */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** @param rank - the lower the better; Infinity for one that may not be taken. */
  consider(node: UpstreamNode, rank: number): void {
    if (rank > this.#rank || rank === Number.POSITIVE_INFINITY) return;
    if (rank < this.#rank) this.#reset(rank);
    this.#considered++;
    if (this.#considered === 1) this.#one = node;
    else if (this.#considered === 2) this.#other = node;
    else this.#replaceAtRandom(node);
  }

  /** The chosen one, null where none was offered; and begins anew. */
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

  /** Of so many that were offered each is among the two with the same chance. */
  #replaceAtRandom(node: UpstreamNode): void {
    const index = Math.floor(this.#random() * this.#considered);
    if (index === 0) this.#one = node;
    else if (index === 1) this.#other = node;
  }
}

/**
 * The node that calls stay at while the choice is sticky: another takes its place when it was clearly better for some
 * time, or when this one is not good any more.
 */
export class Primary {
  readonly #limits: Readonly<{ stickyMs: number }>;
  #node: UpstreamNode | null = null;
  #challenger: UpstreamNode | null = null;
  #since = 0;

  /** @param limits - of which `stickyMs` says how long another must be better. */
  constructor(limits: Readonly<{ stickyMs: number }>) {
    this.#limits = limits;
  }

  get node(): UpstreamNode | null {
    return this.#node;
  }

  /** @param nodes - those that are asked. */
  review(nodes: readonly UpstreamNode[], now: number): void {
    const healthy = nodes.filter((node) => node.isHealthy(now));
    const current = this.#node;
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
    this.#node = node;
    this.#challenger = null;
  }
}

/** Of two that are not known, the first stays. */
const isFaster = (one: UpstreamNode, other: UpstreamNode): boolean =>
  one.latencyMs !== null && (other.latencyMs === null || one.latencyMs < other.latencyMs);

/** Nodes of the right chain, without those that the operator took out of service unless that is all of them. */
export function inService(nodes: readonly UpstreamNode[]): readonly UpstreamNode[] {
  const sameChain = nodes.some((node) => node.wrongChain) ? nodes.filter((node) => !node.wrongChain) : nodes;
  if (!sameChain.some((node) => node.cordon !== null)) return sameChain;
  const uncordoned = sameChain.filter((node) => node.cordon === null);
  return uncordoned.length === 0 ? sameChain : uncordoned;
}
