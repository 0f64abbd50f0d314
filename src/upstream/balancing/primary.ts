import type { UpstreamNode } from '../node.ts';
import { isClearlyBetter } from './load-balancer.ts';

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
