import { unlessAborted } from '../../base/concurrency/unless-aborted.ts';
import type { Network, RpcDispatcher } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Blockhash } from '../../solana/blockhash.ts';
import type { Signature } from '../../solana/signature.ts';
import type { Feed } from '../../streams/feed.ts';
import { StatusPoller } from '../../upstream/confirmations/status-poller.ts';
import {
  type Confirmation,
  type Lifetime,
  WatchedTransaction,
} from '../../upstream/confirmations/watched-transaction.ts';

export const confirmationLimits = {
  waitMaxMs: 90_000,
  /** Maximum number of concurrent waits; further waits end at once, unconfirmed. */
  waitersMax: 10_000,
  pollMs: 500,
  subscribedPollMs: 5_000,
  expiryPollMs: 2_000,
  callConcurrency: 4,
};

type ConfirmationLimits = Readonly<typeof confirmationLimits>;

export type ConfirmationParts = Readonly<{
  /** Null if subscriptions are unavailable. */
  feed: Feed | null;
  feedNetwork: Network;
  source: RpcDispatcher;
  limits?: Partial<ConfirmationLimits>;
}>;

export type SentTransaction = Readonly<{
  network: Network;
  signature: Signature;
  commitment: Commitment;
  /** Null for a transaction that does not expire by block height, such as one with a durable nonce. */
  blockhash: Blockhash | null;
  /** Block height after which the blockhash may have expired and must be checked. */
  lastValidBlockHeight: bigint | null;
}>;

const keyOf = ({ network, signature, commitment }: SentTransaction): string =>
  `${network} ${commitment} ${signature}`;

function lifetimeOf({ blockhash, lastValidBlockHeight }: SentTransaction): Lifetime | null {
  if (blockhash === null || lastValidBlockHeight === null) return null;
  return { blockhash, lastValidBlockHeight };
}

/**
 * Waits until transactions reach a commitment level, using shared polls and, if possible, subscriptions. A wait ends
 * early if the blockhash has expired and no node knows the transaction.
 */
export class Confirmations {
  readonly #parts: ConfirmationParts;
  readonly #limits: ConfirmationLimits;
  readonly #watched = new Map<string, WatchedTransaction>();
  readonly #pollers = new Map<Network, StatusPoller>();
  #waiters = 0;
  #isClosed = false;

  constructor(parts: ConfirmationParts) {
    this.#parts = parts;
    this.#limits = { ...confirmationLimits, ...parts.limits };
  }

  get size(): number {
    return this.#waiters;
  }

  /** @throws Failure if the signal is aborted: the abort reason if it is a Failure, otherwise CLIENT_GONE. */
  async wait(sent: SentTransaction, signal: AbortSignal): Promise<Confirmation> {
    if (this.#isClosed) return unconfirmed(null, 'DRAINING');
    if (this.#waiters >= this.#limits.waitersMax) return unconfirmed(null, 'OVERLOADED');
    const watched = this.#watch(sent);
    const timeout = Promise.withResolvers<Confirmation>();
    const timer = setTimeout(
      () => timeout.resolve(unconfirmed(watched.status, 'TRANSACTION_UNCONFIRMED')),
      this.#limits.waitMaxMs,
    );
    this.#waiters++;
    watched.waiters++;
    try {
      return await unlessAborted(Promise.race([watched.outcome, timeout.promise]), signal);
    } catch (thrown) {
      throw thrown instanceof Failure ? thrown : new Failure('CLIENT_GONE', { cause: thrown });
    } finally {
      clearTimeout(timer);
      this.#waiters--;
      if (--watched.waiters === 0) this.#forget(sent, watched);
    }
  }

  /** Ends all waits; further waits end at once. */
  close(): void {
    this.#isClosed = true;
    for (const watched of this.#watched.values()) watched.settle(unconfirmed(watched.status, 'DRAINING'));
  }

  #watch(sent: SentTransaction): WatchedTransaction {
    const key = keyOf(sent);
    const existing = this.#watched.get(key);
    if (existing !== undefined) {
      existing.lifetime ??= lifetimeOf(sent);
      return existing;
    }
    const watched = new WatchedTransaction(sent.signature, sent.commitment, lifetimeOf(sent));
    this.#watched.set(key, watched);
    this.#pollerOf(sent.network).add(watched);
    void this.#subscribe(sent.network, watched);
    return watched;
  }

  #pollerOf(network: Network): StatusPoller {
    const existing = this.#pollers.get(network);
    if (existing !== undefined) return existing;
    const poller = new StatusPoller(network, this.#parts.source, this.#limits);
    this.#pollers.set(network, poller);
    return poller;
  }

  #forget(sent: SentTransaction, watched: WatchedTransaction): void {
    this.#watched.delete(keyOf(sent));
    this.#pollers.get(sent.network)?.delete(watched);
    watched.abandon();
  }

  async #subscribe(network: Network, watched: WatchedTransaction): Promise<void> {
    const { feed, feedNetwork } = this.#parts;
    if (feed === null || network !== feedNetwork) return;
    const { signature, commitment } = watched;
    try {
      const end = await feed.open({ kind: 'signature', signature, commitment, received: false }, watched);
      // The next poll still runs: the commitment may have been reached before the subscription opened.
      watched.onSubscribed(end);
    } catch {
      // Polling continues without the subscription.
    }
  }
}

const unconfirmed = (
  status: Commitment | null,
  code: 'OVERLOADED' | 'TRANSACTION_UNCONFIRMED' | 'DRAINING',
): Confirmation => ({ status, err: null, failure: new Failure(code) });
