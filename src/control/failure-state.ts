/** Hears when something begins to fail, and with null when it works again. */
export type OnState = (error: unknown | null) => void;

/** Tells of what is tried again and again once when it begins to fail, and once when it works again. */
export class FailureState {
  readonly #onState: OnState;
  #failing = false;

  constructor(onState: OnState = () => undefined) {
    this.#onState = onState;
  }

  /** @param error - what an attempt failed with; null for one that did not fail. */
  report(error: unknown | null): void {
    const failing = error !== null;
    if (failing !== this.#failing) this.#onState(error);
    this.#failing = failing;
  }

  /** Makes an attempt and tells how it went. Never rejects. */
  async guard(attempt: () => Promise<void>): Promise<void> {
    try {
      await attempt();
      this.report(null);
    } catch (error) {
      this.report(error);
    }
  }
}
