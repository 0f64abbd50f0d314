/** What goes on in turns that it shares with others. */
export interface ReplayTask {
  /** @returns whether it wants another turn. */
  runSlice(): boolean;
}

export type ReplaySchedulerLimits = Readonly<{
  /** Replays that are told at a time; others wait until one has caught up, or its client does not read. */
  replaysMax: number;
}>;

/** The turns of all replays: one slot of one of them in a turn of the event loop, each in its turn. */
export class ReplayScheduler {
  readonly #limits: ReplaySchedulerLimits;
  /** Whose turn comes next is first. */
  readonly #active = new Set<ReplayTask>();
  readonly #waiting = new Set<ReplayTask>();
  #tick: NodeJS.Immediate | null = null;

  constructor(limits: ReplaySchedulerLimits) {
    this.#limits = limits;
  }

  /** It gets a turn, not before the next one of the event loop. */
  schedule(task: ReplayTask): void {
    this.#waiting.add(task);
    this.#fill();
  }

  /** It wants none any more. Harmless when it did not. */
  cancel(task: ReplayTask): void {
    this.#waiting.delete(task);
    if (this.#active.delete(task)) this.#fill();
  }

  #fill(): void {
    for (const task of this.#waiting) {
      if (this.#active.size >= this.#limits.replaysMax) break;
      this.#waiting.delete(task);
      this.#active.add(task);
    }
    if (this.#active.size > 0) this.#tick ??= setImmediate(() => this.#runNext());
  }

  #runNext(): void {
    this.#tick = null;
    const [task] = this.#active;
    if (task !== undefined) {
      const hasMore = task.runSlice();
      if (this.#active.delete(task) && hasMore) this.#active.add(task);
    }
    this.#fill();
  }
}
