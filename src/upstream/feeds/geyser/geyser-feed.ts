import type { Logger } from '../../../base/log.ts';
import type { Commitment } from '../../../protocol/commitment.ts';
import { Failure } from '../../../protocol/errors.ts';
import { readTimestamp } from '../../../protocol/geyser/fields.ts';
import { InvalidProtobuf, ProtobufReader } from '../../../protocol/geyser/protobuf.ts';
import type { RawSlot, RawUpdate } from '../../../protocol/geyser/raw-update.ts';
import { type DecodableUpdate, decodeUpdate } from '../../../protocol/geyser/update/decode-update.ts';
import type { Subscription, SubscriptionKind } from '../../../protocol/subscriptions.ts';
import type { Address } from '../../../solana/address.ts';
import { type Slot, slot as slotOf } from '../../../solana/units.ts';
import type { FeedListener } from '../../../streams/feed.ts';
import type { LedgerEvent } from '../../../streams/ledger-event.ts';
import { LedgerNotifier } from '../../../streams/ledger-notifier.ts';
import type { YellowstoneListener, YellowstoneSource } from '../../geyser/yellowstone-source.ts';
import type { ChainReader, RequestFn } from '../chain-reader.ts';
import type { EmittedTransactions, PreferredFeed } from '../preferred-feed.ts';
import type { SlotInfo } from '../pubsub-message.ts';
import { GapQueue } from './gap-queue.ts';
import { LateSignatures } from './late-signatures.ts';
import { type GeyserLimits, geyserLimits } from './limits.ts';
import { MintCache } from './mint-cache.ts';
import { MintQueue, type QueuedUpdate } from './mint-queue.ts';
import { geyserKinds, RefCountedMap, RequestedFilters } from './requested-filters.ts';
import { UpdateSequence } from './update-sequence.ts';

/** Addresses and owners of the accounts that `jsonParsed` subscriptions request. */
class ParsedAccounts {
  readonly #targets = new RefCountedMap<Address, null>();

  add(subscription: Subscription): () => void {
    const isParsed = 'encoding' in subscription && subscription.encoding === 'jsonParsed';
    if (!isParsed) return () => {};
    if (subscription.kind === 'account') return this.#targets.add(subscription.address, () => null);
    return subscription.kind === 'program' ? this.#targets.add(subscription.program, () => null) : () => {};
  }

  has(address: Address, owner: Address): boolean {
    return this.#targets.has(address) || this.#targets.has(owner);
  }
}

type GeyserFeedOptions = Readonly<{
  source: YellowstoneSource;
  limits?: Partial<GeyserLimits>;
  log: Logger;
  reader: Pick<ChainReader, 'request'>;
}>;

type ActiveSubscription = {
  readonly subscription: Subscription;
  readonly listener: FeedListener;
  cleanups: (() => void)[];
  /** Slots completed since the subscription was added, counted up to ACCEPTED_AFTER_SLOTS. */
  slotsSeen: number;
};

/** After this many slots, servers have accepted a subscription, so it cannot be the cause of a later rejection. */
const ACCEPTED_AFTER_SLOTS = 2;

const isRootSubscription = ({ subscription: { kind } }: ActiveSubscription): boolean => kind === 'root';

const EVICTION_WARNING = 'Too many unrooted slots; failing subscriptions with pending notifications';

/** These subscriptions cannot be recovered from blocks, which contain no account writes. */
const isAccountSubscription = ({ subscription: { kind } }: ActiveSubscription): boolean =>
  kind === 'account' || kind === 'program';

/**
 * At `processed`, emits events as they arrive, even before the slot is complete. Account subscriptions fail when a
 * gap is repaired from blocks, which lack account writes. All subscriptions fail when slots are lost or every server
 * is down. If a slot is evicted before it is rooted, the subscriptions with pending notifications for it fail.
 */
export class GeyserFeed implements PreferredFeed, YellowstoneListener {
  readonly #limits: GeyserLimits;
  readonly #options: GeyserFeedOptions;
  readonly #source: YellowstoneSource;
  readonly #notifier: LedgerNotifier;
  readonly #mints: MintCache;
  readonly #lateSignatures: LateSignatures;
  readonly #gapQueue: GapQueue;
  readonly #mintQueue: MintQueue;
  readonly #requested: RequestedFilters;
  readonly #parsed = new ParsedAccounts();
  readonly #subscriptions = new Set<ActiveSubscription>();
  #sequence: UpdateSequence;
  #position: SlotInfo | null = null;
  /** Returns a snapshot from before the failure. Set while subscriptions fail: removing the last resets `#sequence`. */
  #emittedBeforeFailure: (() => EmittedTransactions) | null = null;
  #hasWarnedMalformed = false;

  constructor(options: GeyserFeedOptions) {
    const { source, log, reader } = options;
    this.#limits = { ...geyserLimits, ...options.limits };
    this.#options = options;
    this.#source = source;
    const sendRequest: RequestFn = (method, params, signal) => reader.request(method, params, signal);
    this.#mints = new MintCache({ request: sendRequest, log, limits: this.#limits });
    this.#lateSignatures = new LateSignatures(sendRequest, log, () => source.newestStarted);
    this.#sequence = this.#newSequence();
    const { seenSlotsMax: slotsMax, gapBufferMax, programFiltersMax } = this.#limits;
    this.#notifier = new LedgerNotifier({
      intraSlot: true,
      slotsMax,
      lookup: () => this.#mints.lookup(),
      onEvicted: (slot, failed) => log.warn({ slot: Number(slot), failed }, EVICTION_WARNING),
    });
    this.#requested = new RequestedFilters({ programFiltersMax, fits: (size) => source.fits(size) });
    this.#mintQueue = new MintQueue({
      queueMax: gapBufferMax,
      emit: (queued) => this.#emit(queued),
      prefetch: ({ update }) => {
        if (update.kind !== 'account' || update.write.account.lamports === 0n) return null;
        const { address, account } = update.write;
        return this.#parsed.has(address, account.owner) ? this.#mints.fetchFor(account) : null;
      },
    });
    this.#gapQueue = new GapQueue({
      gapBufferMax,
      slotsMax,
      emit: (queued) => this.#mintQueue.push(queued),
      onOverflow: () => this.#failAll(() => true),
    });
    source.addListener(this);
    source.addFilters(() => this.#requested.request());
  }

  serves(kind: SubscriptionKind): boolean {
    return geyserKinds.has(kind) && this.#source.hasServers;
  }

  /** @throws Failure UPSTREAM_UNAVAILABLE, including when the merged request would be too large. */
  async open(subscription: Subscription, listener: FeedListener): Promise<() => void> {
    if (this.#source.isDown || !this.serves(subscription.kind)) throw new Failure('UPSTREAM_UNAVAILABLE');
    const removeFilters = this.#requested.add(subscription);
    if (removeFilters === null) throw new Failure('UPSTREAM_UNAVAILABLE');
    if (this.#subscriptions.size === 0) {
      this.#position = null;
      this.#sequence = this.#newSequence();
    }
    const active: ActiveSubscription = { subscription, listener, cleanups: [removeFilters], slotsSeen: 0 };
    this.#subscriptions.add(active);
    await this.#fetchRoot();
    if (!this.#subscriptions.has(active)) throw new Failure('UPSTREAM_UNAVAILABLE');
    active.cleanups.push(this.#parsed.add(subscription));
    const notified: FeedListener = {
      onNotification: (result, isLast) => this.#notify(active, result, isLast),
      onError: (failure) => this.#fail([active], failure),
    };
    active.cleanups.push(this.#notifier.add(subscription, notified));
    if (!(await this.#source.updateFilters())) {
      this.#remove(active);
      throw new Failure('UPSTREAM_UNAVAILABLE');
    }
    if (subscription.kind === 'signature' && this.#subscriptions.has(active)) {
      active.cleanups.push(
        this.#lateSignatures.watch(subscription, (result) => this.#notify(active, result, true)),
      );
    }
    return () => this.#remove(active);
  }

  position(): SlotInfo | null {
    return this.#position;
  }

  emittedUpTo(commitment: Commitment): Slot | null {
    return this.#sequence.emittedTransactions().upTo(commitment);
  }

  emittedTransactions(): EmittedTransactions {
    return this.#emittedBeforeFailure?.() ?? this.#sequence.emittedTransactions().copy();
  }

  close(): void {
    for (const subscription of [...this.#subscriptions]) this.#remove(subscription);
  }

  onUpdate(update: RawUpdate): void {
    if (this.#subscriptions.size === 0) return;
    switch (update.kind) {
      case 'slot':
        if (update.status !== 'firstShredReceived' && update.status !== 'completed')
          this.#handleUpdate(update);
        return;
      case 'account':
      case 'transaction':
        if (this.#requested.matches(update)) this.#handleUpdate(update);
    }
  }

  onEarlierStatus(update: RawSlot): void {
    if (this.#subscriptions.size > 0) this.#handleUpdate(update);
  }

  onLost(_from: Slot, _to: Slot, kinds: ReadonlySet<RawUpdate['kind']>): void {
    if (kinds.has('slot')) this.#failAll(() => true);
    else if (kinds.has('account')) this.#failAll(isAccountSubscription);
  }

  onReset(): void {
    this.#failAll(() => true);
  }

  onDown(): void {
    this.#failAll(() => true);
  }

  onRejected(): void {
    this.#failAll(({ slotsSeen }) => slotsSeen < ACCEPTED_AFTER_SLOTS);
  }

  #handleUpdate(raw: DecodableUpdate): void {
    try {
      const at = readTimestamp(new ProtobufReader(raw.createdAt));
      this.#gapQueue.push({ update: decodeUpdate(raw), at });
    } catch (error) {
      if (!(error instanceof InvalidProtobuf)) throw error;
      if (this.#hasWarnedMalformed) return;
      this.#hasWarnedMalformed = true;
      this.#options.log.warn({ reason: error.message }, 'Skipped a malformed Geyser update');
    }
  }

  /** Slot notifications contain the root, but a new stream reports a root only after some time. */
  async #fetchRoot(): Promise<void> {
    if (this.#sequence.root !== null) return;
    const sequence = this.#sequence;
    const timeout = AbortSignal.timeout(this.#limits.rootTimeoutMs);
    try {
      const body = await this.#options.reader.request('getSlot', [{ commitment: 'finalized' }], timeout);
      sequence.setRootHint(slotOf(BigInt(body.toString('latin1'))));
    } catch (error) {
      this.#options.log.warn(
        { cause: String(error) },
        'Failed to read the root slot; it is estimated until the stream reports one',
      );
    }
  }

  #notify(subscription: ActiveSubscription, result: Buffer, isLast: boolean): void {
    if (!this.#subscriptions.has(subscription)) return;
    if (isLast) this.#remove(subscription);
    subscription.listener.onNotification(result, isLast);
  }

  #remove(subscription: ActiveSubscription): void {
    if (!this.#subscriptions.delete(subscription)) return;
    for (const cleanup of subscription.cleanups) cleanup();
    subscription.cleanups = [];
    this.#source.narrowFilters();
    if (this.#subscriptions.size > 0) return;
    this.#sequence = this.#newSequence();
    this.#gapQueue.clear();
    this.#mintQueue.clear();
  }

  #newSequence(): UpdateSequence {
    return new UpdateSequence({
      completeUpTo: this.#source.newest,
      slotsMax: this.#limits.seenSlotsMax,
      onEvicted: (slot) => {
        if (![...this.#subscriptions].some(isRootSubscription)) return;
        this.#options.log.warn({ slot: Number(slot), failed: ['root'] }, EVICTION_WARNING);
        this.#failAll(isRootSubscription);
      },
    });
  }

  #failAll(predicate: (subscription: ActiveSubscription) => boolean): void {
    this.#fail([...this.#subscriptions].filter(predicate), new Failure('UPSTREAM_UNAVAILABLE'));
  }

  #fail(failed: readonly ActiveSubscription[], failure: Failure): void {
    const sequence = this.#sequence;
    let emitted: EmittedTransactions | null = null;
    this.#emittedBeforeFailure = () => {
      emitted ??= sequence.emittedTransactions().copy();
      return emitted;
    };
    for (const subscription of failed) {
      this.#remove(subscription);
      subscription.listener.onError(failure);
    }
    this.#emittedBeforeFailure = null;
  }

  #emit({ update, at }: QueuedUpdate): void {
    for (const event of this.#sequence.eventsOf(update, at)) {
      this.#notifier.emit(event);
      this.#handleCommitment(event);
    }
  }

  #handleCommitment({ kind }: LedgerEvent): void {
    switch (kind) {
      case 'processed':
        this.#position = this.#sequence.position;
        for (const subscription of this.#subscriptions)
          if (subscription.slotsSeen < ACCEPTED_AFTER_SLOTS) subscription.slotsSeen++;
        this.#lateSignatures.onCommitment('processed');
        return;
      case 'confirmed':
        this.#lateSignatures.onCommitment('confirmed');
        return;
      case 'rooted':
        this.#lateSignatures.onCommitment('finalized');
    }
  }
}
