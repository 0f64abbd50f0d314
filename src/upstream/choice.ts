import type { UpstreamNode } from './node.ts';

/** Unknown nodes count as quick, so that they get known; not as free, or a burst would all go to one of them. */
const UNKNOWN_LATENCY_MS = 1;
/** Latencies that differ by less than this are equal: nobody is chosen for what the next answer may turn round. */
export const CLEARLY_BETTER = 1.3;

const latencyOf = (node: UpstreamNode): number => node.latencyMs ?? UNKNOWN_LATENCY_MS;

/** Whether one latency is clearly better than another. */
export const isClearlyBetter = (one: UpstreamNode, other: UpstreamNode): boolean =>
  latencyOf(one) * CLEARLY_BETTER < latencyOf(other);

/** What asking this node now would roughly cost: its latency, times those who wait already. */
const burden = (node: UpstreamNode): number => (node.inFlight + 1) * latencyOf(node);

/**
 * The better of two: of those that are about as quick the less busy one, else the one that is likely to answer first.
 * @param isOtherFirst - decides where nothing else does.
 */
export function betterOf(one: UpstreamNode, other: UpstreamNode, isOtherFirst: boolean): UpstreamNode {
  const differ = isClearlyBetter(one, other) || isClearlyBetter(other, one);
  const ofOne = differ ? burden(one) : one.inFlight;
  const ofOther = differ ? burden(other) : other.inFlight;
  if (ofOne === ofOther) return isOtherFirst ? other : one;
  return ofOther < ofOne ? other : one;
}

/**
 * Draws two of those that are offered, each with the same chance, and gives the better: load spreads, and a slow node
 * gets less. It keeps what is offered with the lowest rank only. One is made for all calls: nothing is made to choose.
 */
export class Draw {
  readonly #random: () => number;
  #rank = Number.POSITIVE_INFINITY;
  #offered = 0;
  #one: UpstreamNode | null = null;
  #other: UpstreamNode | null = null;

  /** @param random - uniform in [0, 1). */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** @param rank - the lower the better; Infinity for one that may not be taken. */
  offer(node: UpstreamNode, rank: number): void {
    if (rank > this.#rank || rank === Number.POSITIVE_INFINITY) return;
    if (rank < this.#rank) this.#begin(rank);
    this.#offered++;
    if (this.#offered === 1) this.#one = node;
    else if (this.#offered === 2) this.#other = node;
    else this.#replace(node);
  }

  /** The chosen one, null where none was offered; and begins anew. */
  take(): UpstreamNode | null {
    const one = this.#one;
    const other = this.#other;
    this.#begin(Number.POSITIVE_INFINITY);
    if (one === null || other === null) return one;
    return betterOf(one, other, this.#random() < 0.5);
  }

  #begin(rank: number): void {
    this.#rank = rank;
    this.#offered = 0;
    this.#one = null;
    this.#other = null;
  }

  /** Of so many that were offered each is among the two with the same chance. */
  #replace(node: UpstreamNode): void {
    const place = Math.floor(this.#random() * this.#offered);
    if (place === 0) this.#one = node;
    else if (place === 1) this.#other = node;
  }
}
