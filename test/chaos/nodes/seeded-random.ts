import { createRandom, type Random } from '../../fuzz/engine/mutate.ts';

/** What happens by random, and happens again with the same seed. */
export class SeededRandom {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = createRandom(seed);
  }

  between(least: number, most: number): number {
    return least + (this.#random() / 2 ** 32) * (most - least);
  }

  /** @param share - probability, 0 to 1. */
  happens(share: number): boolean {
    return this.between(0, 1) < share;
  }

  oneOf<T>(list: readonly T[]): T {
    return list[this.#random() % list.length] as T;
  }
}
