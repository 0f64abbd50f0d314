import { priorityOf } from '../node.ts';
import type { GeyserNode } from './geyser-node.ts';
import type { GeyserSourceOptions } from './geyser-source-options.ts';

/** Progress of one node without a pause of `stallMs`. */
type Progress = Readonly<{ since: number; at: number }>;

/**
 * Decides which nodes have streams: those of the best priority, and those of the next one while no better node delivers
 * slots. Times are on the `performance.now()` clock.
 */
export class StreamPriority {
  readonly #limits: Pick<GeyserSourceOptions, 'stallMs' | 'failBackMs'>;
  readonly #progress = new Map<string, Progress>();
  #nodes: readonly GeyserNode[] = [];
  #max = 0;
  #changedAt = 0;

  constructor(limits: Pick<GeyserSourceOptions, 'stallMs' | 'failBackMs'>) {
    this.#limits = limits;
  }

  /** Nodes that have streams. */
  get active(): readonly GeyserNode[] {
    return this.#nodes.filter((node) => priorityOf(node) <= this.#max);
  }

  setNodes(nodes: readonly GeyserNode[], now: number): void {
    this.#nodes = nodes;
    for (const name of this.#progress.keys())
      if (!nodes.some((node) => node.name === name)) this.#progress.delete(name);
    if (this.active.length === 0 && nodes.length > 0) this.#setMax(Math.min(...nodes.map(priorityOf)), now);
  }

  recordProgress({ name }: GeyserNode, now: number): void {
    const last = this.#progress.get(name);
    const isContinuous = last !== undefined && now - last.at <= this.#limits.stallMs;
    this.#progress.set(name, { since: isContinuous ? last.since : now, at: now });
  }

  /** @returns whether `active` changed. */
  review(now: number): boolean {
    const { stallMs, failBackMs } = this.#limits;
    const reliable = this.active.filter((node) => {
      const progress = this.#progress.get(node.name);
      return progress !== undefined && now - progress.at <= stallMs && now - progress.since >= failBackMs;
    });
    const better = Math.min(...reliable.map(priorityOf));
    if (better < this.#max) return this.#setMax(better, now);
    const isStalled = this.active.every(({ name }) => now - (this.#progress.get(name)?.at ?? 0) > stallMs);
    if (!isStalled || now - this.#changedAt <= stallMs) return false;
    const next = Math.min(...this.#nodes.map(priorityOf).filter((priority) => priority > this.#max));
    return Number.isFinite(next) && this.#setMax(next, now);
  }

  #setMax(max: number, now: number): boolean {
    this.#max = max;
    this.#changedAt = now;
    return true;
  }
}
