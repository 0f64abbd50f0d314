import {
  type LimitCommand,
  type LimitStore,
  LimitStoreUnavailableError,
} from '../../control/shared/limit-store.ts';

/** The primary, as far as limits go. */
type Primary = Readonly<{
  isConnected: () => boolean;
  /** @throws NoAnswer */
  execute: (steps: readonly LimitCommand[]) => Promise<readonly unknown[]>;
}>;

/** Where workers of one service tell each other what they let through: in the memory of the primary. */
export class IpcLimitStore implements LimitStore {
  readonly #primary: Primary;

  constructor(primary: Primary) {
    this.#primary = primary;
  }

  get problem(): LimitStoreUnavailableError | null {
    return this.#primary.isConnected() ? null : new LimitStoreUnavailableError(undefined);
  }

  async start(): Promise<void> {}

  execute(steps: readonly LimitCommand[]): Promise<readonly unknown[]> {
    // Whoever asks may have more in them than can be said.
    return this.#primary.execute(steps.map(({ name, keys, values }) => ({ name, keys, values })));
  }

  async stop(): Promise<void> {}
}
