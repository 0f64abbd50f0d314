import { type JsonValue, parseJson } from '../../base/json.ts';
import { type Commitment, commitments } from '../../protocol/commitment.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Blockhash } from '../../solana/blockhash.ts';
import { MalformedJson, objectOf } from '../../solana/encoding/read-json.ts';
import type { Signature } from '../../solana/signature.ts';
import type { Slot } from '../../solana/units.ts';
import type { FeedListener } from '../../streams/feed.ts';
import type { LandedStatus } from '../feeds/signature-statuses.ts';

export type Confirmation = Readonly<{
  status: Commitment | null;
  /** Chain error of a failed transaction; otherwise null. */
  err: JsonValue;
  /** Why the commitment was not reached; null if it was. */
  failure: Failure | null;
}>;

export type Tip = Readonly<{ slot: Slot; blockHeight: bigint }>;

export type Lifetime = {
  readonly blockhash: Blockhash;
  /** null while unknown. The poller then assumes the highest possible value, that of a current blockhash. */
  lastValidBlockHeight: bigint | null;
};

function errOf(result: Buffer): JsonValue | undefined {
  try {
    const { value } = objectOf(parseJson(result.toString('utf8')), 'a notification');
    return objectOf(value, 'an outcome').err;
  } catch (thrown) {
    if (thrown instanceof MalformedJson || thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
}

/** A transaction with any number of waiters. Settled by a subscription or a status poll, whichever comes first. */
export class WatchedTransaction implements FeedListener {
  readonly signature: Signature;
  readonly commitment: Commitment;
  /** null if the transaction does not expire by block height. */
  lifetime: Lifetime | null;
  status: Commitment | null = null;
  slot: Slot | null = null;
  /** Time of the next poll, on the `performance.now()` clock. */
  dueAt = 0;
  waiters = 0;
  readonly #outcome = Promise.withResolvers<Confirmation>();
  #isSettled = false;
  #endSubscription: (() => void) | null = null;
  #feedFailed = false;

  constructor(signature: Signature, commitment: Commitment, lifetime: Lifetime | null) {
    this.signature = signature;
    this.commitment = commitment;
    this.lifetime = lifetime;
  }

  get outcome(): Promise<Confirmation> {
    return this.#outcome.promise;
  }

  get isSubscribed(): boolean {
    return this.#endSubscription !== null;
  }

  onSubscribed(end: () => void): void {
    if (this.#isSettled || this.#feedFailed) end();
    else this.#endSubscription = end;
  }

  onNotification(result: Buffer): void {
    const err = errOf(result);
    if (err !== undefined) this.settle({ status: this.commitment, err, failure: null });
  }

  /** The subscription failed. From now on, the transaction is polled like any other. */
  onError(): void {
    this.#feedFailed = true;
    this.#endSubscription = null;
    this.dueAt = 0;
  }

  /** @param status - null if the transaction is unknown or two nodes disagree about it. */
  onStatus(status: LandedStatus | null): void {
    this.status =
      status === null ? null : (commitments.findLast((level) => status.hasCommitment(level)) ?? 'processed');
    this.slot = status?.slot ?? null;
    if (!status?.hasCommitment(this.commitment)) return;
    this.settle({ status: this.status, err: status.err as JsonValue, failure: null });
  }

  expire(): void {
    this.settle({ status: null, err: null, failure: new Failure('TRANSACTION_EXPIRED') });
  }

  settle(confirmation: Confirmation): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#endSubscription?.();
    this.#endSubscription = null;
    this.#outcome.resolve(confirmation);
  }

  abandon(): void {
    this.settle({ status: this.status, err: null, failure: new Failure('CLIENT_GONE') });
  }
}
