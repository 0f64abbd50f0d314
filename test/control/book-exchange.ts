import type { LimitBook } from '../../src/control/shared/limit-book.ts';
import type { ExchangeStep, LimitExchange } from '../../src/control/shared/limit-exchange.ts';

/** A book that is asked without a way in between. */
export class BookExchange implements LimitExchange {
  readonly problem = null;
  readonly #book: LimitBook;

  constructor(book: LimitBook) {
    this.#book = book;
  }

  async start(): Promise<void> {}

  async run(steps: readonly ExchangeStep[]): Promise<readonly unknown[]> {
    return this.#book.run(steps);
  }

  async stop(): Promise<void> {}
}
