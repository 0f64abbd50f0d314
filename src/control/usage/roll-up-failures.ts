/** Attempts in a row; after that, a bucket is retried less often. */
const ATTEMPTS_MAX = 3;
const RETRY_MS = 60_000;

type Failure = Readonly<{ error: unknown; count: number; retryAt: number }>;

/** Failures in a row by kind and bucket, so that a bucket that always fails does not block others. */
export class RollUpFailures {
  readonly #failures = new Map<string, Failure>();

  get isPersistent(): boolean {
    return [...this.#failures.values()].some(({ count }) => count >= ATTEMPTS_MAX);
  }

  clear(): void {
    this.#failures.clear();
  }

  /** Selects the due buckets that may be attempted, and forgets failures of buckets that are no longer due. */
  select(kind: string, due: readonly number[], nowMs: number): number[] {
    const names = new Set(due.map((bucket) => `${kind} ${bucket}`));
    for (const name of this.#failures.keys())
      if (name.startsWith(`${kind} `) && !names.has(name)) this.#failures.delete(name);
    return due.filter((bucket) => {
      const failure = this.#failures.get(`${kind} ${bucket}`);
      return failure === undefined || failure.count < ATTEMPTS_MAX || nowMs >= failure.retryAt;
    });
  }

  /** Runs an attempt and records its result. */
  async watch(kind: string, bucket: number, nowMs: number, attempt: () => Promise<unknown>): Promise<void> {
    const name = `${kind} ${bucket}`;
    try {
      await attempt();
      this.#failures.delete(name);
    } catch (error) {
      const count = (this.#failures.get(name)?.count ?? 0) + 1;
      this.#failures.set(name, { error, count, retryAt: nowMs + RETRY_MS });
    }
  }

  /** @throws unknown - the error of a bucket, if any still fails. */
  throwFirst(): void {
    for (const { error } of this.#failures.values()) throw error;
  }
}
