import type { Logger } from '../../../base/log.ts';
import type { Block } from '../../../ledger/block.ts';
import { isSimpleVote } from '../../../ledger/transaction/simple-vote.ts';
import { type Slot, slot as slotOf } from '../../../ledger/units.ts';
import type { Commitment } from '../../../protocol/commitment.ts';
import { Failure } from '../../../protocol/errors.ts';
import type { Update } from '../../../protocol/geyser/subscribe-update.ts';
import type { Subscription, SubscriptionKind } from '../../../protocol/subscriptions.ts';
import type { FeedListener } from '../../../streams/feed.ts';
import type { LedgerEvent } from '../../../streams/ledger-event.ts';
import { LedgerNotifier } from '../../../streams/ledger-notifier.ts';
import type { NodeConfig } from '../../node.ts';
import type { ChainReader } from '../chain-reader.ts';
import type { PreferredFeed } from '../feeds.ts';
import type { SlotInfo } from '../slot-info.ts';
import type { TransactionsTold } from '../transactions-told.ts';
import { Absence } from './absence.ts';
import { Arrivals, type Arrived, type DecisiveUpdate } from './arrivals.ts';
import type { Ask } from './ask.ts';
import { type GeyserLimits, geyserLimits } from './geyser-limits.ts';
import { GeyserLink, type GeyserNode, hasGeyser } from './geyser-link.ts';
import { LateSignatures } from './late-signatures.ts';
import { Mints } from './mints.ts';
import { ParsedInterest } from './parsed-interest.ts';
import { AckTimeout } from './request-acks.ts';
import { geyserKinds, SubscribeUnion } from './subscribe-union.ts';
import { UpdateSequence } from './update-sequence.ts';

export type GeyserFeedOptions = Readonly<{
  /** In the order in which they are tried; at least one. */
  nodes: readonly GeyserNode[];
  limits?: Partial<GeyserLimits>;
  log: Logger;
  /** Asks the network's nodes, for mints, roots, late signatures, and the blocks that a server cannot replay. */
  reader: Pick<ChainReader, 'ask' | 'slots' | 'eachBlock'>;
}>;

type Entry = {
  readonly subscription: Subscription;
  readonly listener: FeedListener;
  ends: (() => void)[];
  /** Slots that ended since a server heard of it, as far as they are counted. */
  slotsSeen: number;
};

/** A subscription that so many slots have passed is not what a server refuses. */
const PROVEN_SLOTS = 2;

const isOfRoots = ({ subscription: { kind } }: Entry): boolean => kind === 'root';

const FORGOTTEN = 'more slots wait for their root than are held: what is owed something of them is given up';

/** Accounts at processed are written by slots and transactions alike; no block tells how. */
const isOfAccounts = ({ subscription: { kind } }: Entry): boolean => kind === 'account' || kind === 'program';

/**
 * Feeds subscriptions from Geyser (Yellowstone gRPC): one stream for all of them, which asks for the union of what
 * they want. At `processed` each event is told as it comes, also within a slot; at `confirmed` and `finalized` when
 * the slot gets there.
 *
 * A stream that is cut goes on from the slot after the newest root, on the same server or the next, and nothing is
 * told twice. What no server replays is read from blocks, and the subscriptions of accounts, of which
 * blocks say nothing, fail: whoever opened them has to go on elsewhere. So do all when every server is away, and
 * those that are owed something of a slot that waits for its root for too long.
 */
export class GeyserFeed implements PreferredFeed {
  readonly #limits: GeyserLimits;
  readonly #options: GeyserFeedOptions;
  readonly #notifier: LedgerNotifier;
  readonly #mints: Mints;
  readonly #late: LateSignatures;
  readonly #link: GeyserLink;
  readonly #arrivals: Arrivals;
  readonly #union: SubscribeUnion;
  readonly #parsed = new ParsedInterest();
  readonly #entries = new Set<Entry>();
  #events: UpdateSequence;
  #run = new AbortController();
  #position: SlotInfo | null = null;
  /** Set while subscriptions are given up, which forgets the events with the last of them. */
  #toldAtEnd: (() => TransactionsTold) | null = null;
  readonly #absence: Absence;

  constructor(options: GeyserFeedOptions) {
    this.#limits = { ...geyserLimits, ...options.limits };
    this.#options = options;
    this.#absence = new Absence({ nodes: options.nodes, limits: this.#limits, log: options.log });
    const { nodes, log, reader } = options;
    const ask: Ask = (method, params, signal) => reader.ask(method, params, signal);
    this.#mints = new Mints({ ask, log, limits: this.#limits });
    this.#late = new LateSignatures(ask, log);
    this.#events = this.#newSequence();
    this.#notifier = new LedgerNotifier({
      intraSlot: true,
      slotsMax: this.#limits.seenSlotsMax,
      lookup: () => this.#mints.lookup(),
      onForgotten: (slot, failed) => log.warn({ slot: Number(slot), failed }, FORGOTTEN),
    });
    this.#union = new SubscribeUnion(this.#limits);
    const request = (fromSlot: Slot | null): Uint8Array => this.#union.encode(fromSlot);
    this.#link = new GeyserLink(
      { nodes, limits: this.#limits, log, request, resumeAt: () => this.#resumeAt() },
      {
        update: (update, at, node) => this.#arrivals.push({ update, at, node }),
        resumed: () => this.#arrivals.resumed(),
        refused: () => this.#failAll(({ slotsSeen }) => slotsSeen < PROVEN_SLOTS),
        down: () => {
          this.#absence.begin();
          this.#failAll(() => true);
        },
      },
    );
    this.#arrivals = new Arrivals({
      heldMax: this.#limits.heldMax,
      tell: (arrived) => this.#tell(arrived),
      needs: ({ update }) => this.#needs(update),
      gapBefore: (update) => this.#gapBefore(update),
      hold: (isHeld) => this.#link.hold(isHeld),
      overflow: () => this.#failAll(() => true),
    });
  }

  /** Takes these servers from now on. The stream goes on from another where its own is not among them. */
  setNodes(nodes: readonly NodeConfig[]): void {
    const servers = nodes.filter(hasGeyser);
    this.#absence.setNodes(servers);
    if (servers.length > 0) {
      this.#link.setNodes(servers);
      return;
    }
    this.#link.stop();
    this.#absence.begin();
    this.#failAll(() => true);
  }

  /** Whether subscriptions of a kind are fed at all. */
  serves(kind: SubscriptionKind): boolean {
    return geyserKinds.has(kind);
  }

  /** @throws Failure UPSTREAM_UNAVAILABLE, also for kinds that are not fed and for more than a request takes. */
  async open(subscription: Subscription, listener: FeedListener): Promise<() => void> {
    if (this.#absence.lasts || !this.serves(subscription.kind)) throw new Failure('UPSTREAM_UNAVAILABLE');
    const leave = this.#union.add(subscription);
    if (leave === null) throw new Failure('UPSTREAM_UNAVAILABLE');
    if (this.#entries.size === 0) this.#position = null;
    const entry: Entry = { subscription, listener, ends: [leave], slotsSeen: 0 };
    this.#entries.add(entry);
    await this.#learnRoot();
    if (!this.#entries.has(entry)) throw new Failure('UPSTREAM_UNAVAILABLE');
    entry.ends.push(this.#parsed.add(subscription));
    entry.ends.push(this.#notifier.add(subscription, this.#listenerOf(entry)));
    try {
      await this.#link.changed();
    } catch (cause) {
      this.#end(entry);
      if (cause instanceof AckTimeout) this.#absence.begin();
      throw new Failure('UPSTREAM_UNAVAILABLE', { cause });
    }
    if (subscription.kind === 'signature' && this.#entries.has(entry)) {
      entry.ends.push(this.#late.watch(subscription, (result) => this.#notify(entry, result, true)));
    }
    return () => this.#end(entry);
  }

  /** The newest slot that was told to its end, also when the subscriptions have just been given up; null for none. */
  position(): SlotInfo | null {
    return this.#position;
  }

  /** Transactions of slots up to this one were told at the commitment; null while nothing was. */
  toldUpTo(commitment: Commitment): Slot | null {
    return this.#events.transactionsTold().upTo(commitment);
  }

  /** Which transactions were told: until now or, asked while subscriptions are given up, until then. */
  transactionsTold(): TransactionsTold {
    return this.#toldAtEnd?.() ?? this.#events.transactionsTold().copy();
  }

  /** Ends the stream and every subscription, without a word to their listeners. */
  close(): void {
    this.#absence.end();
    for (const entry of [...this.#entries]) this.#end(entry);
  }

  /** A slot is told with its root; a stream names one only some time after it began. */
  async #learnRoot(): Promise<void> {
    if (this.#events.root !== null) return;
    const events = this.#events;
    const inTime = AbortSignal.timeout(this.#limits.ackTimeoutMs);
    try {
      const body = await this.#options.reader.ask('getSlot', [{ commitment: 'finalized' }], inTime);
      events.showRoot(slotOf(BigInt(body.toString('latin1'))));
    } catch {
      this.#options.log.warn('the root of the chain could not be asked for');
    }
  }

  #resumeAt(): Slot | null {
    const { root, processed } = this.#events;
    if (processed === null) return null;
    const after = root === null ? processed : root + 1n;
    const oldest = processed - BigInt(this.#limits.replaySlotsMax);
    return slotOf(after > oldest ? after : oldest);
  }

  #listenerOf(entry: Entry): FeedListener {
    return {
      notify: (result, last) => this.#notify(entry, result, last),
      fail: (failure) => this.#fail([entry], failure),
    };
  }

  #notify(entry: Entry, result: Buffer, last: boolean): void {
    if (!this.#entries.has(entry)) return;
    if (last) this.#end(entry);
    entry.listener.notify(result, last);
  }

  #end(entry: Entry): void {
    if (!this.#entries.delete(entry)) return;
    for (const end of entry.ends) end();
    entry.ends = [];
    if (this.#entries.size > 0) {
      // Whoever is still there loses nothing when this comes late, or not at all.
      this.#link.changed().catch(() => {});
      return;
    }
    this.#link.stop();
    this.#run.abort();
    this.#run = new AbortController();
    this.#events = this.#newSequence();
    this.#arrivals.clear();
  }

  #newSequence(): UpdateSequence {
    return new UpdateSequence(this.#limits.seenSlotsMax, (slot) => {
      if (![...this.#entries].some(isOfRoots)) return;
      this.#options.log.warn({ slot: Number(slot), failed: ['root'] }, FORGOTTEN);
      this.#failAll(isOfRoots);
    });
  }

  #failAll(which: (entry: Entry) => boolean): void {
    this.#fail([...this.#entries].filter(which), new Failure('UPSTREAM_UNAVAILABLE'));
  }

  #fail(given: readonly Entry[], failure: Failure): void {
    const events = this.#events;
    let told: TransactionsTold | null = null;
    this.#toldAtEnd = () => {
      told ??= events.transactionsTold().copy();
      return told;
    };
    for (const entry of given) {
      this.#end(entry);
      entry.listener.fail(failure);
    }
    this.#toldAtEnd = null;
  }

  /** The first slot that a new stream tells of shows whether it goes on where the last one ended. */
  #gapBefore({ slot, parent, status }: DecisiveUpdate): Promise<void> | null {
    const { processed } = this.#events;
    if (processed === null || slot <= processed) return null;
    if (parent !== null && this.#events.isWhole(parent)) return null;
    // Of a slot that is told of only when it ends, the beginning may be missing.
    const to = status === 'createdBank' ? slotOf(slot - 1n) : slot;
    return this.#fillGap(slotOf(processed + 1n), to);
  }

  /** Blocks say all but what became of accounts. */
  async #fillGap(from: Slot, to: Slot): Promise<void> {
    const { reader, log } = this.#options;
    const { signal } = this.#run;
    log.warn({ from: Number(from), to: Number(to) }, 'a Geyser stream goes on behind a gap');
    this.#failAll(isOfAccounts);
    if (this.#entries.size === 0) return;
    try {
      const slots = await reader.slots(from, to, 'confirmed', signal);
      await reader.eachBlock(slots, signal, (block) => this.#tellBlock(block));
    } catch {
      if (signal.aborted) return;
      log.warn({ from: Number(from), to: Number(to) }, 'a gap in a Geyser stream could not be filled');
      this.#failAll(() => true);
    }
  }

  #tellBlock(block: Block): void {
    if (this.#run.signal.aborted) return;
    const { slot, parentSlot: parent } = block;
    const at = block.blockTime === null ? BigInt(Date.now()) : block.blockTime * 1_000n;
    const tell = (update: Update): void => this.#tell({ update, at, node: '' });
    const status = { kind: 'slot', slot, parent, deadError: null } as const;
    tell({ ...status, status: 'createdBank' });
    block.transactions.forEach((executed, index) => {
      const signature = executed.transaction.signatures[0];
      if (signature === undefined) return;
      const isVote = isSimpleVote(executed.transaction);
      tell({ kind: 'transaction', slot, placed: { signature, isVote, executed, index } });
    });
    tell({ ...status, status: 'processed' });
    tell({ ...status, status: 'confirmed' });
  }

  /** What must be fetched before an update can be told; null for nothing. */
  #needs(update: Update): Promise<void> | null {
    if (update.kind !== 'account' || update.write.account.lamports === 0n) return null;
    const { address, account } = update.write;
    return this.#parsed.has(address, account.owner) ? this.#mints.fetchFor(account) : null;
  }

  #tell({ update, at, node }: Arrived): void {
    for (const event of this.#events.eventsOf(update, at, node)) {
      this.#notifier.tell(event);
      this.#reached(event);
    }
  }

  #prove(): void {
    for (const entry of this.#entries) if (entry.slotsSeen < PROVEN_SLOTS) entry.slotsSeen++;
  }

  #reached({ kind }: LedgerEvent): void {
    switch (kind) {
      case 'processed':
        this.#position = this.#events.position;
        this.#prove();
        this.#late.reached('processed');
        return;
      case 'confirmed':
        this.#late.reached('confirmed');
        return;
      case 'rooted':
        this.#late.reached('finalized');
    }
  }
}
