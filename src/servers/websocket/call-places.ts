/** Places for calls that are being answered, for all connections together. */
export class CallPlaces {
  readonly #max: number;
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a place if there is one. */
  take(): boolean {
    if (this.#taken >= this.#max) return false;
    this.#taken += 1;
    return true;
  }

  giveBack(): void {
    this.#taken -= 1;
  }
}
