import type {
  InMemoryLimitStore,
  LimitCommand,
  LimitStore,
} from '../../../src/control/shared/limit-store.ts';

export class DirectLimitStore implements LimitStore {
  readonly problem = null;
  readonly #store: InMemoryLimitStore;

  constructor(store: InMemoryLimitStore) {
    this.#store = store;
  }

  async start(): Promise<void> {}

  async execute(steps: readonly LimitCommand[]): Promise<readonly unknown[]> {
    return this.#store.execute(steps);
  }

  async stop(): Promise<void> {}
}
