import type { Signature } from '../../../../src/solana/signature.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';

export type IntakeStages = Readonly<{
  /** Whether it can be charged, as far as known before announced transactions run. */
  mayRun: (transaction: Transaction) => boolean;
  /** Sends shreds. */
  announce: (transactions: readonly Transaction[]) => void;
  /** Called after the announced transactions have run. */
  settle: () => void;
}>;

type IntakeLimits = Readonly<{
  /** Maximum pending transactions. */
  transactionsMax: number;
  /** Bytes per announcement. */
  batchMaxBytes: number;
  /** Overhead bytes per transaction. */
  overheadBytes: number;
  /** Minimum milliseconds between announcement and run; 0 for the next event loop turn. */
  leadMs: number;
}>;

type Arrived = Readonly<{
  transaction: Transaction;
  signature: Signature;
  run: () => void;
  fail: (error: unknown) => void;
}>;

/** `dueAt` by `performance.now()`. */
type Announced = Readonly<{ dueAt: number; run: () => void }>;

/**
 * Queues transactions that are announced as shreds before they run. Those that arrive in one event loop
 * turn, or while others wait, are announced together. Order is kept; a transaction that cannot be charged
 * yet waits for those before it.
 */
export class Intake {
  readonly #stages: IntakeStages;
  readonly #limits: IntakeLimits;
  readonly #arrived: Arrived[] = [];
  #announced: Announced | null = null;
  readonly #signatures = new Set<Signature>();
  #turn: NodeJS.Immediate | null = null;
  #cancelRun: () => void = () => {};
  #whenRun: (() => void) | null = null;

  constructor(stages: IntakeStages, limits: IntakeLimits) {
    this.#stages = stages;
    this.#limits = limits;
  }

  has(signature: Signature): boolean {
    return this.#signatures.has(signature);
  }

  get isFull(): boolean {
    return this.#signatures.size >= this.#limits.transactionsMax;
  }

  /**
   * @param run - runs it.
   * @returns the result of `run`.
   */
  add<Result>(signature: Signature, transaction: Transaction, run: () => Result): Promise<Result> {
    this.#signatures.add(signature);
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#arrived.push({ transaction, signature, run: () => resolve(run()), fail: reject });
    this.#schedule();
    return promise;
  }

  /** Queues the run of another announcement ahead of new arrivals. It must not throw. */
  hold(run: () => void): void {
    this.#runAnnounced();
    this.#await(run);
    if (this.#limits.leadMs === 0) this.#runAnnounced();
  }

  /** Calls back when announced transactions have run, before anything else is announced. */
  whenRun(then: () => void): void {
    if (this.#announced === null) then();
    else this.#whenRun = then;
  }

  drain(): void {
    while (this.#announced !== null || this.#arrived.length > 0) {
      this.#runAnnounced();
      this.#announceNext();
    }
    if (this.#turn !== null) clearImmediate(this.#turn);
    this.#turn = null;
  }

  /** Announces in the next turn, or after the pending run. */
  #schedule(): void {
    if (this.#announced !== null || this.#arrived.length === 0) return;
    this.#turn ??= setImmediate(() => {
      this.#turn = null;
      this.#announceNext();
    });
  }

  #await(run: () => void): void {
    const { leadMs } = this.#limits;
    this.#announced = { dueAt: performance.now() + leadMs, run };
    this.#runIn(leadMs);
  }

  #runIn(ms: number): void {
    if (ms === 0) {
      const turn = setImmediate(() => this.#runAnnounced());
      this.#cancelRun = () => clearImmediate(turn);
      return;
    }
    const timer = setTimeout(() => this.#runDue(), ms);
    this.#cancelRun = () => clearTimeout(timer);
  }

  /** Timers may fire a fraction of a millisecond early. */
  #runDue(): void {
    const restMs = (this.#announced?.dueAt ?? 0) - performance.now();
    if (restMs > 0) this.#runIn(Math.ceil(restMs));
    else this.#runAnnounced();
  }

  #runAnnounced(): void {
    const announced = this.#announced;
    if (announced === null) return;
    this.#cancelRun();
    this.#announced = null;
    announced.run();
    this.#stages.settle();
    const then = this.#whenRun;
    this.#whenRun = null;
    then?.();
    this.#schedule();
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
    if (this.#announced !== null) return;
    const batch = this.#nextBatch();
    if (batch.length === 0) return;
    try {
      this.#stages.announce(batch.map(({ transaction }) => transaction));
      this.#await(() => {
        for (const each of batch) this.#run(each);
      });
    } catch (error) {
      for (const { signature, fail } of batch) {
        this.#signatures.delete(signature);
        fail(error);
      }
      this.#schedule();
    }
  }

  /** Next batch; transactions that cannot be charged run at once and are rejected. */
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
