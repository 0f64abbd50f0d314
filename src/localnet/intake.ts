import type { Signature } from '../ledger/signature.ts';
import type { Transaction } from '../ledger/transaction/transaction.ts';

/** What becomes of transactions on their way. */
export type IntakeStages = Readonly<{
  /** Whether it would be charged, as far as is known before those that were announced have run. */
  mayRun: (transaction: Transaction) => boolean;
  /** Sends them ahead. */
  announce: (transactions: readonly Transaction[]) => void;
  /** Is called when those have run. */
  settle: () => void;
}>;

export type IntakeLimits = Readonly<{
  /** Transactions that may be on their way. */
  transactionsMax: number;
  /** Bytes that are announced at a time. */
  batchMaxBytes: number;
  /** What a transaction takes of them besides its own. */
  overheadBytes: number;
}>;

type Arrived = Readonly<{
  transaction: Transaction;
  signature: Signature;
  run: () => void;
  fail: (error: unknown) => void;
}>;

/**
 * Transactions on their way into the open slot where they are announced before they run: those that came in one turn
 * of the event loop are announced together, and run in the next, so that what was sent of them is under way. They
 * keep their order. One that could not be charged before those in front of it have run waits for them.
 */
export class Intake {
  readonly #stages: IntakeStages;
  readonly #limits: IntakeLimits;
  readonly #arrived: Arrived[] = [];
  #announced: Arrived[] = [];
  readonly #signatures = new Set<Signature>();
  #turn: NodeJS.Immediate | null = null;

  constructor(stages: IntakeStages, limits: IntakeLimits) {
    this.#stages = stages;
    this.#limits = limits;
  }

  /** Whether a transaction is on its way. */
  has(signature: Signature): boolean {
    return this.#signatures.has(signature);
  }

  get isFull(): boolean {
    return this.#signatures.size >= this.#limits.transactionsMax;
  }

  /**
   * Takes a transaction that is not on its way yet.
   * @param run - what runs it.
   * @returns what `run` returned or threw.
   */
  add<Result>(signature: Signature, transaction: Transaction, run: () => Result): Promise<Result> {
    this.#signatures.add(signature);
    this.#schedule();
    return new Promise((resolve, reject) => {
      this.#arrived.push({ transaction, signature, run: () => resolve(run()), fail: reject });
    });
  }

  /** Announces and runs whatever has come, now. */
  drain(): void {
    while (this.#signatures.size > 0) this.#step();
    if (this.#turn !== null) clearImmediate(this.#turn);
    this.#turn = null;
  }

  #schedule(): void {
    this.#turn ??= setImmediate(() => {
      this.#turn = null;
      this.#step();
      if (this.#signatures.size > 0) this.#schedule();
    });
  }

  #step(): void {
    this.#runAnnounced();
    this.#announceNext();
  }

  #runAnnounced(): void {
    if (this.#announced.length === 0) return;
    const announced = this.#announced;
    this.#announced = [];
    for (const each of announced) this.#run(each);
    this.#stages.settle();
  }

  #run(arrived: Arrived): void {
    this.#signatures.delete(arrived.signature);
    try {
      arrived.run();
    } catch (error) {
      arrived.fail(error);
    }
  }

  #announceNext(): void {
    const batch = this.#nextBatch();
    if (batch.length === 0) return;
    try {
      this.#stages.announce(batch.map(({ transaction }) => transaction));
      this.#announced = batch;
    } catch (error) {
      for (const { signature, fail } of batch) {
        this.#signatures.delete(signature);
        fail(error);
      }
    }
  }

  /** As many as may go together; what cannot be charged on the state as it is runs at once, to be refused. */
  #nextBatch(): Arrived[] {
    const batch: Arrived[] = [];
    let bytes = 0;
    for (let next = this.#arrived[0]; next !== undefined; next = this.#arrived[0]) {
      bytes += next.transaction.wire.length + this.#limits.overheadBytes;
      if (bytes > this.#limits.batchMaxBytes && batch.length > 0) break;
      const mayRun = this.#stages.mayRun(next.transaction);
      if (!mayRun && batch.length > 0) break;
      this.#arrived.shift();
      if (mayRun) batch.push(next);
      else this.#run(next);
    }
    return batch;
  }
}
