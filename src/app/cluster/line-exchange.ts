import { type ExchangeStep, type LimitExchange, NotConnected } from '../../control/shared/limit-exchange.ts';

/** The primary, as far as limits go. */
type Primary = Readonly<{
  isThere: () => boolean;
  /** @throws NoAnswer */
  run: (steps: readonly ExchangeStep[]) => Promise<readonly unknown[]>;
}>;

/** Where workers of one service tell each other what they let through: in the memory of the primary. */
export class LineExchange implements LimitExchange {
  readonly #primary: Primary;

  constructor(primary: Primary) {
    this.#primary = primary;
  }

  get problem(): NotConnected | null {
    return this.#primary.isThere() ? null : new NotConnected(undefined);
  }

  async start(): Promise<void> {}

  run(steps: readonly ExchangeStep[]): Promise<readonly unknown[]> {
    // Whoever asks may have more in them than can be said.
    return this.#primary.run(steps.map(({ name, keys, values }) => ({ name, keys, values })));
  }

  async stop(): Promise<void> {}
}
