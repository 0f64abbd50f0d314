const FAULTS_MAX = 20;

/** Results of the readers. */
export type ReaderFindings = Readonly<{
  /** Writes of accounts and transactions. */
  messages: number;
  /** Slots compared with the ledger, per reader. */
  slots: number;
  faults: readonly string[];
  faultCount: number;
  /** How the streams that do not read ended. */
  lagged: readonly string[];
  /** Delay of slots at their commitment, in milliseconds. */
  lateness: Readonly<{ p50: number; p99: number; max: number }>;
  /** The lowest slot of all readers, by commitment. */
  progress: readonly number[];
}>;

export const noFindings: ReaderFindings = {
  ...{ messages: 0, slots: 0, faults: [], faultCount: 0, lagged: [], progress: [] },
  lateness: { p50: 0, p99: 0, max: 0 },
};

/** Collects the results of the readers of a process. */
export class Findings {
  messages = 0;
  slots = 0;
  readonly lagged: string[] = [];
  readonly #faults: string[] = [];
  #faultCount = 0;
  readonly #lateness: number[] = [];

  fault(text: string): void {
    this.#faultCount++;
    if (this.#faults.length < FAULTS_MAX) this.#faults.push(text);
  }

  late(ms: number): void {
    this.#lateness.push(ms);
  }

  /** @param progress - slots by commitment. */
  found(progress: readonly number[]): ReaderFindings {
    const sorted = this.#lateness.toSorted((a, b) => a - b);
    const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
    const { messages, slots, lagged } = this;
    const lateness = { p50: at(0.5), p99: at(0.99), max: at(1) };
    return {
      messages,
      slots,
      lagged,
      faults: this.#faults,
      faultCount: this.#faultCount,
      lateness,
      progress,
    };
  }
}
