import type { Signature } from '../../solana/signature.ts';
import type { Transaction } from '../../solana/transaction/transaction.ts';

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
  /** Milliseconds at the least from their announcement to their run; 0 for the next turn of the event loop. */
  leadMs: number;
}>;

type Arrived = Readonly<{
  transaction: Transaction;
  signature: Signature;
  run: () => void;
  fail: (error: unknown) => void;
}>;

/** What was announced and runs when it is time, by `performance.now()`. */
type Announced = Readonly<{ dueAt: number; run: () => void }>;

/**
 * Transactions on their way into the open slot where they are announced before they run: those that came in one turn
 * of the event loop, or while others wait for their run, are announced together. They run some time later, so that
 * what was sent of them is there first. They keep their order. One that could not be charged before those in front of
 * it have run waits for them.
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
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#arrived.push({ transaction, signature, run: () => resolve(run()), fail: reject });
    this.#schedule();
    return promise;
  }

  /** Takes the run of something else that was announced just now, in front of whatever comes. It must not throw. */
  hold(run: () => void): void {
    this.#runAnnounced();
    this.#await(run);
    if (this.#limits.leadMs === 0) this.#runAnnounced();
  }

  /** Calls back once what was announced has run; nothing else is announced before that. */
  whenRun(then: () => void): void {
    if (this.#announced === null) then();
    else this.#whenRun = then;
  }

  /** Announces and runs whatever has come, now. */
  drain(): void {
    while (this.#announced !== null || this.#arrived.length > 0) {
      this.#runAnnounced();
      this.#announceNext();
    }
    if (this.#turn !== null) clearImmediate(this.#turn);
    this.#turn = null;
  }

  /** What has come is announced in the next turn, unless something waits for its run: then with what comes until. */
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

  /** A timer may come early by a fraction of a millisecond. */
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
