import type { Signature } from '../../../../src/solana/signature.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';

export type IntakeStages = Readonly<{
  /** Whether the fee can be charged, judging by the state before the announced transactions. */
  canExecute: (transaction: Transaction) => boolean;
  /** Sends the shreds of transactions. */
  announce: (transactions: readonly Transaction[]) => void;
  /** Called after the announced transactions have been executed. */
  sendDeferred: () => void;
}>;

type IntakeLimits = Readonly<{
  /** Maximum pending transactions. */
  transactionsMax: number;
  /** Bytes per announcement. */
  batchMaxBytes: number;
  /** Overhead bytes per transaction. */
  overheadBytes: number;
  /** Minimum milliseconds between announcement and execution; 0: in the next event loop turn. */
  leadMs: number;
}>;

type Arrived = Readonly<{
  transaction: Transaction;
  signature: Signature;
  run: () => void;
  fail: (error: unknown) => void;
}>;

/** `dueAt` is a time of `performance.now()`. */
type Announced = Readonly<{ dueAt: number; run: () => void }>;

/**
 * Queues transactions, which are announced as shreds before they are executed. Transactions that arrive in the
 * same event loop turn, or while an announcement is pending, are announced together. Their order is kept: a
 * transaction that cannot be charged yet waits until those before it have been executed.
 */
export class TransactionIntake {
  readonly #stages: IntakeStages;
  readonly #limits: IntakeLimits;
  readonly #arrived: Arrived[] = [];
  #announced: Announced | null = null;
  readonly #signatures = new Set<Signature>();
  #turn: NodeJS.Immediate | null = null;
  #cancelRun: () => void = () => {};
  #afterExecution: (() => void) | null = null;

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
   * Queues a transaction.
   * @param run - executes it.
   * @returns the result of `run`.
   */
  add<Result>(signature: Signature, transaction: Transaction, run: () => Result): Promise<Result> {
    this.#signatures.add(signature);
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#arrived.push({ transaction, signature, run: () => resolve(run()), fail: reject });
    this.#scheduleAnnouncement();
    return promise;
  }

  /** Schedules the execution of transactions announced by the caller, before new arrivals. `run` must not throw. */
  scheduleAnnounced(run: () => void): void {
    this.#runAnnounced();
    this.#scheduleRun(run);
    if (this.#limits.leadMs === 0) this.#runAnnounced();
  }

  /** Calls back when the announced transactions have been executed, before the next announcement. */
  afterPendingExecuted(then: () => void): void {
    if (this.#announced === null) then();
    else this.#afterExecution = then;
  }

  executePending(): void {
    while (this.#announced !== null || this.#arrived.length > 0) {
      this.#runAnnounced();
      this.#announceNext();
    }
    if (this.#turn !== null) clearImmediate(this.#turn);
    this.#turn = null;
  }

  /** Announces the next batch in the next turn, unless an announcement is pending. */
  #scheduleAnnouncement(): void {
    if (this.#announced !== null || this.#arrived.length === 0) return;
    this.#turn ??= setImmediate(() => {
      this.#turn = null;
      this.#announceNext();
    });
  }

  #scheduleRun(run: () => void): void {
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
    const remainingMs = (this.#announced?.dueAt ?? 0) - performance.now();
    if (remainingMs > 0) this.#runIn(Math.ceil(remainingMs));
    else this.#runAnnounced();
  }

  #runAnnounced(): void {
    const announced = this.#announced;
    if (announced === null) return;
    this.#cancelRun();
    this.#announced = null;
    announced.run();
    this.#stages.sendDeferred();
    const then = this.#afterExecution;
    this.#afterExecution = null;
    then?.();
    this.#scheduleAnnouncement();
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
      this.#scheduleRun(() => {
        for (const each of batch) this.#run(each);
      });
    } catch (error) {
      for (const { signature, fail } of batch) {
        this.#signatures.delete(signature);
        fail(error);
      }
      this.#scheduleAnnouncement();
    }
  }

  /** Takes the next batch. If the first transaction cannot be charged, it is run immediately, which rejects it. */
  #nextBatch(): Arrived[] {
    const batch: Arrived[] = [];
    let bytes = 0;
    for (let next = this.#arrived[0]; next !== undefined; next = this.#arrived[0]) {
      bytes += next.transaction.wire.length + this.#limits.overheadBytes;
      if (bytes > this.#limits.batchMaxBytes && batch.length > 0) break;
      const canExecute = this.#stages.canExecute(next.transaction);
      if (!canExecute && batch.length > 0) break;
      this.#arrived.shift();
      if (canExecute) batch.push(next);
      else this.#run(next);
    }
    return batch;
  }
}
