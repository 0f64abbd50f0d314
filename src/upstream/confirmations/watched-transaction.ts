import { type JsonValue, parseJson } from '../../base/json.ts';
import { type Commitment, commitments } from '../../protocol/commitment.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Blockhash } from '../../solana/blockhash.ts';
import { MalformedJson, objectOf } from '../../solana/encoding/read-json.ts';
import type { Signature } from '../../solana/signature.ts';
import type { Slot } from '../../solana/units.ts';
import type { FeedListener } from '../../streams/feed.ts';
import type { LandedStatus } from '../feeds/signature-statuses.ts';

/** What became of a transaction. */
export type Confirmation = Readonly<{
  /** What it has come to; null when nobody has seen it land. */
  status: Commitment | null;
  /** The chain's error of one that ran and failed; null for every other. */
  err: JsonValue;
  /** Why the commitment that was waited for was not seen; null when it was. */
  failure: Failure | null;
}>;

/** Where the network stands: the block height of a slot, both confirmed. */
export type Tip = Readonly<{ slot: Slot; blockHeight: bigint }>;

/** The blockhash that a transaction stands on, and from where on it may have expired. */
export type Lifetime = {
  readonly blockhash: Blockhash;
  /** null until it is known: whoever looks then puts in the last one possible for a blockhash that is known by now. */
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

/**
 * One transaction that is to come to a commitment, for all who wait for that. It is told by a subscription, where
 * there is one, and by the rounds of asking for statuses; whoever is first settles it.
 */
export class WatchedTransaction implements FeedListener {
  readonly signature: Signature;
  readonly commitment: Commitment;
  /** null for one that no block height ends. */
  lifetime: Lifetime | null;
  /** What it has come to as far as known. */
  status: Commitment | null = null;
  /** Where it landed as far as known. */
  slot: Slot | null = null;
  /** When it is asked for next; `performance.now()`. */
  dueAt = 0;
  /** Who waits for it. */
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

  /** What became of it. */
  get outcome(): Promise<Confirmation> {
    return this.#outcome.promise;
  }

  /** Whether a subscription tells of it. */
  get isSubscribed(): boolean {
    return this.#endSubscription !== null;
  }

  /** A subscription tells of it from now on. */
  onSubscribed(end: () => void): void {
    if (this.#isSettled || this.#feedFailed) end();
    else this.#endSubscription = end;
  }

  /** Takes in what the subscription tells: that it has come to its commitment. */
  onNotification(result: Buffer): void {
    const err = errOf(result);
    if (err !== undefined) this.settle({ status: this.commitment, err, failure: null });
  }

  /** The subscription tells nothing more: rounds ask for it as for all others. */
  onError(): void {
    this.#feedFailed = true;
    this.#endSubscription = null;
    this.dueAt = 0;
  }

  /** Takes in what nodes say of it; null for nothing. */
  onStatus(status: LandedStatus | null): void {
    this.status =
      status === null ? null : (commitments.findLast((level) => status.hasCommitment(level)) ?? 'processed');
    this.slot = status?.slot ?? null;
    if (!status?.hasCommitment(this.commitment)) return;
    this.settle({ status: this.status, err: status.err as JsonValue, failure: null });
  }

  /** It cannot land any more. */
  expire(): void {
    this.settle({ status: null, err: null, failure: new Failure('TRANSACTION_EXPIRED') });
  }

  /** Says what became of it, to all who wait. */
  settle(confirmation: Confirmation): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#endSubscription?.();
    this.#endSubscription = null;
    this.#outcome.resolve(confirmation);
  }

  /** Nobody waits for it any more. */
  abandon(): void {
    this.settle({ status: this.status, err: null, failure: new Failure('CLIENT_GONE') });
  }
}
