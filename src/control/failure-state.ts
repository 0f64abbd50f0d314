/** Receives the error when an operation starts to fail, and null when it works again. */
export type OnState = (error: unknown | null) => void;

/** Reports only the first of consecutive failures of an operation, and its recovery. */
export class FailureState {
  readonly #onState: OnState;
  #failing = false;

  constructor(onState: OnState = () => undefined) {
    this.#onState = onState;
  }

  get isFailing(): boolean {
    return this.#failing;
  }

  /** @param error - null for success. */
  report(error: unknown | null): void {
    const failing = error !== null;
    if (failing !== this.#failing) this.#onState(error);
    this.#failing = failing;
  }

  /** Runs an attempt and reports its result. */
  async watch<Result>(attempt: () => Promise<Result>): Promise<Result> {
    try {
      const result = await attempt();
      this.report(null);
      return result;
    } catch (error) {
      this.report(error);
      throw error;
    }
  }

  /** Runs an attempt and reports its result. Never rejects. */
  guard(attempt: () => Promise<void>): Promise<void> {
    return this.watch(attempt).catch(() => undefined);
  }
}
