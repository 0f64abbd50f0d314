import type { Logger } from '../../../base/log.ts';
import type { Commitment } from '../../../protocol/commitment.ts';
import { Failure } from '../../../protocol/errors.ts';
import type { Update } from '../../../protocol/geyser/subscribe-update.ts';
import type { Subscription, SubscriptionKind } from '../../../protocol/subscriptions.ts';
import type { Address } from '../../../solana/address.ts';
import type { Block } from '../../../solana/block.ts';
import { isSimpleVote } from '../../../solana/transaction/simple-vote.ts';
import { type Slot, slot as slotOf } from '../../../solana/units.ts';
import type { FeedListener } from '../../../streams/feed.ts';
import type { LedgerEvent } from '../../../streams/ledger-event.ts';
import { LedgerNotifier } from '../../../streams/ledger-notifier.ts';
import { type GeyserNode, hasGeyser } from '../../geyser/geyser-node.ts';
import { AckTimeout } from '../../geyser/request-acks.ts';
import type { NodeConfig } from '../../node.ts';
import type { EmittedTransactions } from '../block-stream.ts';
import type { ChainReader, RequestFn } from '../chain-reader.ts';
import type { PreferredFeed } from '../feeds.ts';
import type { SlotInfo } from '../pubsub-message.ts';
import { GeyserConnection, type GeyserLimits, geyserLimits } from './geyser-connection.ts';
import { LateSignatures } from './late-signatures.ts';
import { MintCache } from './mint-cache.ts';
import { OutageMonitor } from './outage-monitor.ts';
import { geyserKinds, RefCountedMap, SubscribeRequestBuilder } from './subscribe-request-builder.ts';
import { type DecisiveUpdate, type QueuedUpdate, UpdateQueue } from './update-queue.ts';
import { UpdateSequence } from './update-sequence.ts';

/** Accounts with `jsonParsed` subscriptions, by address or owner. */
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
  /** In order of preference; at least one. */
  nodes: readonly GeyserNode[];
  limits?: Partial<GeyserLimits>;
  log: Logger;
  /** Reads mints, roots, late signatures, and the blocks that no server replays. */
  reader: Pick<ChainReader, 'request' | 'slots' | 'eachBlock'>;
}>;

type Entry = {
  readonly subscription: Subscription;
  readonly listener: FeedListener;
  ends: (() => void)[];
  /** Slots completed since the subscription was acknowledged, up to PROVEN_SLOTS. */
  slotsSeen: number;
};

/** A subscription this old is not the cause of a rejected request. */
const PROVEN_SLOTS = 2;

const isRootSubscription = ({ subscription: { kind } }: Entry): boolean => kind === 'root';

const EVICTION_WARNING =
  'Too many slots wait for their root; failing subscriptions with pending notifications';

/** Blocks do not contain account writes. */
const isAccountSubscription = ({ subscription: { kind } }: Entry): boolean =>
  kind === 'account' || kind === 'program';

/**
 * Feeds subscriptions from one Geyser (Yellowstone gRPC) stream with merged filters. At `processed`, events
 * are emitted as they arrive, also within a slot; at `confirmed` and `finalized`, when the slot reaches the
 * commitment.
 * After a disconnect, the stream resumes from the slot after the newest root, without duplicates. Slots that
 * no server replays are read from blocks; account subscriptions then fail, as blocks lack account writes. All
 * subscriptions fail when every server is down; those with pending notifications fail when their slot is
 * evicted before it is rooted.
 */
export class GeyserFeed implements PreferredFeed {
  readonly #limits: GeyserLimits;
  readonly #options: GeyserFeedOptions;
  readonly #notifier: LedgerNotifier;
  readonly #mints: MintCache;
  readonly #lateSignatures: LateSignatures;
  readonly #connection: GeyserConnection;
  readonly #queue: UpdateQueue;
  readonly #requestBuilder: SubscribeRequestBuilder;
  readonly #parsed = new ParsedAccounts();
  readonly #entries = new Set<Entry>();
  #sequence: UpdateSequence;
  #streamAbort = new AbortController();
  #position: SlotInfo | null = null;
  /** Set while subscriptions fail: the last one clears the sequence. */
  #emittedAtEnd: (() => EmittedTransactions) | null = null;
  readonly #outage: OutageMonitor;

  constructor(options: GeyserFeedOptions) {
    this.#limits = { ...geyserLimits, ...options.limits };
    this.#options = options;
    this.#outage = new OutageMonitor({ nodes: options.nodes, limits: this.#limits, log: options.log });
    const { nodes, log, reader } = options;
    const sendRequest: RequestFn = (method, params, signal) => reader.request(method, params, signal);
    this.#mints = new MintCache({ request: sendRequest, log, limits: this.#limits });
    this.#lateSignatures = new LateSignatures(sendRequest, log);
    this.#sequence = this.#newSequence();
    this.#notifier = new LedgerNotifier({
      intraSlot: true,
      slotsMax: this.#limits.seenSlotsMax,
      lookup: () => this.#mints.lookup(),
      onEvicted: (slot, failed) => log.warn({ slot: Number(slot), failed }, EVICTION_WARNING),
    });
    this.#requestBuilder = new SubscribeRequestBuilder(this.#limits);
    const request = (fromSlot: Slot | null): Uint8Array => this.#requestBuilder.encode(fromSlot);
    this.#connection = new GeyserConnection(
      { nodes, limits: this.#limits, log, request, resumeAt: () => this.#resumeAt() },
      {
        onUpdate: (update, at, node) => this.#queue.push({ update, at, node }),
        onResumed: () => this.#queue.markResumed(),
        onRejected: () => this.#failAll(({ slotsSeen }) => slotsSeen < PROVEN_SLOTS),
        onDown: () => {
          this.#outage.start();
          this.#failAll(() => true);
        },
      },
    );
    this.#queue = new UpdateQueue({
      queueMax: this.#limits.heldMax,
      emit: (queued) => this.#emit(queued),
      prefetch: ({ update }) => this.#prefetch(update),
      gapBefore: (update) => this.#gapBefore(update),
      setPaused: (isPaused) => this.#connection.setPaused(isPaused),
      onOverflow: () => this.#failAll(() => true),
    });
  }

  /** Replaces the servers. */
  setNodes(nodes: readonly NodeConfig[]): void {
    const servers = nodes.filter(hasGeyser);
    this.#outage.setNodes(servers);
    if (servers.length > 0) {
      this.#connection.setNodes(servers);
      return;
    }
    this.#connection.stop();
    this.#outage.start();
    this.#failAll(() => true);
  }

  serves(kind: SubscriptionKind): boolean {
    return geyserKinds.has(kind);
  }

  /** @throws Failure UPSTREAM_UNAVAILABLE, also for other kinds and beyond the limits of a request. */
  async open(subscription: Subscription, listener: FeedListener): Promise<() => void> {
    if (this.#outage.isActive || !this.serves(subscription.kind)) throw new Failure('UPSTREAM_UNAVAILABLE');
    const removeFilters = this.#requestBuilder.add(subscription);
    if (removeFilters === null) throw new Failure('UPSTREAM_UNAVAILABLE');
    if (this.#entries.size === 0) this.#position = null;
    const entry: Entry = { subscription, listener, ends: [removeFilters], slotsSeen: 0 };
    this.#entries.add(entry);
    await this.#fetchRoot();
    if (!this.#entries.has(entry)) throw new Failure('UPSTREAM_UNAVAILABLE');
    entry.ends.push(this.#parsed.add(subscription));
    entry.ends.push(this.#notifier.add(subscription, this.#listenerOf(entry)));
    try {
      await this.#connection.updateRequest();
    } catch (cause) {
      this.#end(entry);
      if (cause instanceof AckTimeout) this.#outage.start();
      throw new Failure('UPSTREAM_UNAVAILABLE', { cause });
    }
    if (subscription.kind === 'signature' && this.#entries.has(entry)) {
      entry.ends.push(
        this.#lateSignatures.watch(subscription, (result) => this.#notify(entry, result, true)),
      );
    }
    return () => this.#end(entry);
  }

  /** The newest completed slot, also while subscriptions fail; null for none. */
  position(): SlotInfo | null {
    return this.#position;
  }

  emittedUpTo(commitment: Commitment): Slot | null {
    return this.#sequence.emittedTransactions().upTo(commitment);
  }

  /** Snapshot of the emitted transactions, also while subscriptions fail. */
  emittedTransactions(): EmittedTransactions {
    return this.#emittedAtEnd?.() ?? this.#sequence.emittedTransactions().copy();
  }

  /** Ends the stream and every subscription without notifying listeners. */
  close(): void {
    this.#outage.end();
    for (const entry of [...this.#entries]) this.#end(entry);
  }

  /** Slot notifications contain the root, which a stream reports late. */
  async #fetchRoot(): Promise<void> {
    if (this.#sequence.root !== null) return;
    const sequence = this.#sequence;
    const inTime = AbortSignal.timeout(this.#limits.ackTimeoutMs);
    try {
      const body = await this.#options.reader.request('getSlot', [{ commitment: 'finalized' }], inTime);
      sequence.setRootHint(slotOf(BigInt(body.toString('latin1'))));
    } catch {
      this.#options.log.warn('Failed to read the root slot');
    }
  }

  #resumeAt(): Slot | null {
    const { root, processed } = this.#sequence;
    if (processed === null) return null;
    const after = root === null ? processed : root + 1n;
    const oldest = processed - BigInt(this.#limits.replaySlotsMax);
    return slotOf(after > oldest ? after : oldest);
  }

  #listenerOf(entry: Entry): FeedListener {
    return {
      onNotification: (result, last) => this.#notify(entry, result, last),
      onError: (failure) => this.#fail([entry], failure),
    };
  }

  #notify(entry: Entry, result: Buffer, last: boolean): void {
    if (!this.#entries.has(entry)) return;
    if (last) this.#end(entry);
    entry.listener.onNotification(result, last);
  }

  #end(entry: Entry): void {
    if (!this.#entries.delete(entry)) return;
    for (const end of entry.ends) end();
    entry.ends = [];
    if (this.#entries.size > 0) {
      // The remaining subscriptions need no acknowledgement.
      this.#connection.updateRequest().catch(() => {});
      return;
    }
    this.#connection.stop();
    this.#streamAbort.abort();
    this.#streamAbort = new AbortController();
    this.#sequence = this.#newSequence();
    this.#queue.clear();
  }

  #newSequence(): UpdateSequence {
    return new UpdateSequence(this.#limits.seenSlotsMax, (slot) => {
      if (![...this.#entries].some(isRootSubscription)) return;
      this.#options.log.warn({ slot: Number(slot), failed: ['root'] }, EVICTION_WARNING);
      this.#failAll(isRootSubscription);
    });
  }

  #failAll(which: (entry: Entry) => boolean): void {
    this.#fail([...this.#entries].filter(which), new Failure('UPSTREAM_UNAVAILABLE'));
  }

  #fail(failedEntries: readonly Entry[], failure: Failure): void {
    const sequence = this.#sequence;
    let emitted: EmittedTransactions | null = null;
    this.#emittedAtEnd = () => {
      emitted ??= sequence.emittedTransactions().copy();
      return emitted;
    };
    for (const entry of failedEntries) {
      this.#end(entry);
      entry.listener.onError(failure);
    }
    this.#emittedAtEnd = null;
  }

  /** Reads the gap between the last slot and the first one of a new stream. */
  #gapBefore({ slot, parent, status }: DecisiveUpdate): Promise<void> | null {
    const { processed } = this.#sequence;
    if (processed === null || slot <= processed) return null;
    if (parent !== null && this.#sequence.isWhole(parent)) return null;
    // The first update may have come after the start of its slot.
    const to = status === 'createdBank' ? slotOf(slot - 1n) : slot;
    return this.#fillGap(slotOf(processed + 1n), to);
  }

  async #fillGap(from: Slot, to: Slot): Promise<void> {
    const { reader, log } = this.#options;
    const { signal } = this.#streamAbort;
    log.warn({ from: Number(from), to: Number(to) }, 'Gap in Geyser stream; reading blocks');
    this.#failAll(isAccountSubscription);
    if (this.#entries.size === 0) return;
    try {
      const slots = await reader.slots(from, to, 'confirmed', signal);
      await reader.eachBlock(slots, signal, (block) => this.#emitBlock(block));
    } catch {
      if (signal.aborted) return;
      log.warn({ from: Number(from), to: Number(to) }, 'Failed to fill the gap in a Geyser stream');
      this.#failAll(() => true);
    }
  }

  #emitBlock(block: Block): void {
    if (this.#streamAbort.signal.aborted) return;
    const { slot, parentSlot: parent } = block;
    const at = block.blockTime === null ? BigInt(Date.now()) : block.blockTime * 1_000n;
    const emit = (update: Update): void => this.#emit({ update, at, node: '' });
    const status = { kind: 'slot', slot, parent, deadError: null } as const;
    emit({ ...status, status: 'createdBank' });
    block.transactions.forEach((executed, index) => {
      const signature = executed.transaction.signatures[0];
      if (signature === undefined) return;
      const isVote = isSimpleVote(executed.transaction);
      emit({ kind: 'transaction', slot, info: { signature, isVote, executed, index } });
    });
    emit({ ...status, status: 'processed' });
    emit({ ...status, status: 'confirmed' });
  }

  /** What must be fetched before an update is emitted; null for nothing. */
  #prefetch(update: Update): Promise<void> | null {
    if (update.kind !== 'account' || update.write.account.lamports === 0n) return null;
    const { address, account } = update.write;
    return this.#parsed.has(address, account.owner) ? this.#mints.fetchFor(account) : null;
  }

  #emit({ update, at, node }: QueuedUpdate): void {
    for (const event of this.#sequence.eventsOf(update, at, node)) {
      this.#notifier.emit(event);
      this.#handleCommitment(event);
    }
  }

  #countSlot(): void {
    for (const entry of this.#entries) if (entry.slotsSeen < PROVEN_SLOTS) entry.slotsSeen++;
  }

  #handleCommitment({ kind }: LedgerEvent): void {
    switch (kind) {
      case 'processed':
        this.#position = this.#sequence.position;
        this.#countSlot();
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
