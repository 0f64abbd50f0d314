export interface ReplayTask {
  /** @returns whether to schedule another slice. */
  runSlice(): boolean;
}

export type ReplaySchedulerLimits = Readonly<{
  /** Concurrent replays; others wait until one catches up or its client stops reading. */
  replaysMax: number;
}>;

/** Schedules replays round-robin: one slot of one replay per turn of the event loop. */
export class ReplayScheduler {
  readonly #limits: ReplaySchedulerLimits;
  /** In order of execution. */
  readonly #active = new Set<ReplayTask>();
  readonly #waiting = new Set<ReplayTask>();
  #tick: NodeJS.Immediate | null = null;

  constructor(limits: ReplaySchedulerLimits) {
    this.#limits = limits;
  }

  /** Runs in the next turn at the earliest. */
  schedule(task: ReplayTask): void {
    this.#waiting.add(task);
    this.#fill();
  }

  /** Idempotent. */
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
