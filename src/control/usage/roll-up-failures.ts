/** Attempts in a row; after that, a bucket is retried less often. */
const ATTEMPTS_MAX = 3;
const RETRY_MS = 60_000;

type Failure = Readonly<{ error: unknown; count: number; retryAt: number }>;

/** Failures in a row by kind and bucket, so that a bucket that always fails does not block others. */
export class RollUpFailures {
  readonly #now: () => number;
  readonly #failures = new Map<string, Map<number, Failure>>();

  constructor(now = () => Date.now()) {
    this.#now = now;
  }

  get isPersistent(): boolean {
    return this.#all.some(({ count }) => count >= ATTEMPTS_MAX);
  }

  get #all(): Failure[] {
    return [...this.#failures.values()].flatMap((failures) => [...failures.values()]);
  }

  clear(): void {
    this.#failures.clear();
  }

  /**
   * Selects due buckets that may be attempted, and forgets failures of buckets that are no longer due.
   * @param listDue - lists the newest due buckets.
   */
  async select(
    kind: string,
    limit: number,
    listDue: (limit: number) => Promise<number[]>,
  ): Promise<number[]> {
    const failures = this.#failures.get(kind) ?? new Map<number, Failure>();
    // More, so that buckets that are not attempted do not displace others.
    const listed = limit + failures.size;
    const due = await listDue(listed);
    const oldest = due.length < listed ? 0 : due.at(-1)!;
    const names = new Set(due);
    for (const bucket of failures.keys()) if (bucket >= oldest && !names.has(bucket)) failures.delete(bucket);
    const now = this.#now();
    const mayTry = ({ count, retryAt }: Failure): boolean => count < ATTEMPTS_MAX || now >= retryAt;
    return due
      .filter((bucket) => {
        const failure = failures.get(bucket);
        return failure === undefined || mayTry(failure);
      })
      .slice(0, limit);
  }

  /** Runs an attempt and records its result. */
  async watch(kind: string, bucket: number, attempt: () => Promise<unknown>): Promise<void> {
    const failures = this.#failures.get(kind) ?? new Map<number, Failure>();
    this.#failures.set(kind, failures);
    try {
      await attempt();
      failures.delete(bucket);
    } catch (error) {
      const count = (failures.get(bucket)?.count ?? 0) + 1;
      failures.set(bucket, { error, count, retryAt: this.#now() + RETRY_MS });
    }
  }

  /** @throws unknown - the error of a bucket, if any still fails. */
  throwFirst(): void {
    for (const { error } of this.#all) throw error;
  }
}
