import type { Logger } from '../../base/log.ts';
import { encodeTimestamp } from '../../protocol/geyser/encode/envelope.ts';
import { rawSlot } from '../../protocol/geyser/encode/raw-slot.ts';
import type { RawAccount, RawUpdate } from '../../protocol/geyser/raw-update.ts';
import type { Block } from '../../solana/block.ts';
import { type Slot, slot as slotOf, U64_MAX } from '../../solana/units.ts';
import type { Feed } from '../../streams/feed.ts';
import type { GeyserListener } from '../../streams/geyser/geyser-source.ts';
import { type ChainReader, ReadError } from '../feeds/chain-reader.ts';
import { readRoot, readSlotInfo } from '../feeds/pubsub-message.ts';
import { updatesOf } from './gap-repair.ts';
import type { GeyserSourceOptions } from './geyser-source-options.ts';
import { RateLimitedLogger } from './rate-limited-logger.ts';
import type { StreamReader } from './stream-reader.ts';
import { UpdateMerge } from './update-merge.ts';

export type ConfirmedBlockFollowerOptions = Readonly<{
  feed: Feed;
  reader: Pick<ChainReader, 'availableSlots' | 'slots' | 'eachBlock'>;
  listener: GeyserListener;
  limits: GeyserSourceOptions;
  log: Logger;
}>;

/** Minimum number of slots per getBlocks request, since there may be slots newer than the last reported slot. */
const STRIDE = 64n;
/** The last confirmed block is expected within this many slots of the tip. */
const START_REACH = 64n;
const accountsOnly: ReadonlySet<RawUpdate['kind']> = new Set(['account']);

/** Emits the confirmed blocks of a network and the accounts passed to `emitAccount`. */
export class ConfirmedBlockFollower {
  readonly #options: ConfirmedBlockFollowerOptions;
  readonly #merge: UpdateMerge;
  readonly #streamReader: StreamReader;
  readonly #end = new AbortController();
  readonly #accounts = new Map<Slot, RawAccount[]>();
  readonly #started = Promise.withResolvers<void>();
  readonly #slotsWithLostAccounts = new Set<Slot>();
  readonly #log: RateLimitedLogger;
  #bufferedCount = 0;
  #last: Slot | null = null;
  #start: Slot | null = null;
  #isBusy = false;

  constructor(options: ConfirmedBlockFollowerOptions) {
    this.#options = options;
    this.#log = new RateLimitedLogger(options.log);
    const { limits, listener } = options;
    this.#merge = new UpdateMerge({ limits, listener, onStart: () => {}, onWaiting: () => {} });
    this.#streamReader = this.#merge.addReader({
      from: null,
      tip: slotOf(U64_MAX),
      fillsIn: true,
      seals: false,
    });
    this.#follow('slot', (result) => this.#advance(readSlotInfo(result)?.slot ?? null));
    this.#follow('root', (result) => {
      const slot = readRoot(result);
      if (slot === null) return;
      const createdAt = encodeTimestamp(BigInt(Date.now()));
      const update = { kind: 'slot', slot, parent: null, status: 'finalized', deadError: null } as const;
      this.#streamReader.handleUpdate(rawSlot(update, createdAt));
    });
  }

  get started(): Promise<void> {
    return this.#started.promise;
  }

  /** Emits the account with or after its block. If more than `waitingAccountsMax` wait, some are lost. */
  emitAccount(account: RawAccount): void {
    const { slot } = account;
    if (this.#merge.record(slot)?.state === 'emitted') {
      this.#streamReader.handleUpdate(account);
      return;
    }
    if (this.#slotsWithLostAccounts.has(slot)) return;
    const buffered = this.#accounts.get(slot) ?? [];
    buffered.push(account);
    this.#accounts.set(slot, buffered);
    this.#bufferedCount++;
    if (this.#bufferedCount > this.#options.limits.waitingAccountsMax) {
      this.#evict(this.#accounts.keys().next().value!);
    }
  }

  /** Replays blocks from a slot up to the follower's start, at most `replaySlotsMax` slots back. Never rejects. */
  async replayFrom(from: Slot): Promise<void> {
    const { reader, limits, log } = this.#options;
    const start = this.#start;
    if (start === null || from > start) return;
    const oldest = start - BigInt(limits.replaySlotsMax);
    const first = from > oldest ? from : slotOf(oldest > 0n ? oldest : 0n);
    const signal = AbortSignal.any([this.#end.signal, AbortSignal.timeout(limits.backfillTimeoutMs)]);
    try {
      const slots = await reader.slots(first, start, 'confirmed', signal);
      await reader.eachBlock(slots, signal, (block) => this.#emitBlock(block));
    } catch {
      if (!this.#end.signal.aborted) log.warn({ from: Number(first) }, 'Failed to read historical blocks');
    }
  }

  close(): void {
    this.#end.abort();
    this.#started.resolve();
  }

  #follow(kind: 'slot' | 'root', notify: (result: Buffer) => void): void {
    const { feed, limits } = this.#options;
    const { signal } = this.#end;
    if (signal.aborted) return;
    const failed = new AbortController();
    const retry = (): void => {
      failed.abort();
      setTimeout(() => this.#follow(kind, notify), limits.reconnectMs).unref();
    };
    const onResult = (result: Buffer): void => {
      if (!signal.aborted) notify(result);
    };
    feed.open({ kind }, { onNotification: onResult, onError: retry }).then((end) => {
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { signal: failed.signal });
    }, retry);
  }

  #advance(tip: Slot | null): void {
    if (tip === null || this.#isBusy) return;
    this.#isBusy = true;
    void this.#step(tip)
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.name : 'unknown';
        if (!this.#end.signal.aborted) this.#options.log.warn({ reason }, 'Failed to read blocks');
      })
      .finally(() => {
        this.#isBusy = false;
      });
  }

  async #step(tip: Slot): Promise<void> {
    const { reader, limits } = this.#options;
    const { signal } = this.#end;
    if (this.#last === null) {
      const from = slotOf(tip > START_REACH ? tip - START_REACH : 0n);
      this.#last = (await reader.availableSlots(from, tip, 'confirmed')).at(-1) ?? null;
      this.#start = this.#last;
      this.#started.resolve();
    }
    for (let last = this.#last; last !== null && !signal.aborted; last = this.#last) {
      if (tip - last > BigInt(limits.fillSlotsMax)) {
        this.#merge.giveUp({ from: slotOf(last + 1n), to: slotOf(tip - 1n) });
        this.#last = slotOf(tip - 1n);
        return;
      }
      const to = tip > last + STRIDE ? tip : slotOf(last + STRIDE);
      const slots = await reader.availableSlots(slotOf(last + 1n), to, 'confirmed');
      if (slots.length === 0) return;
      await reader.eachBlock(slots, signal, (block) => {
        if (this.#last === null || block.slot <= this.#last) return;
        // A parent after the last emitted block means that the node's slot list omits a block.
        if (block.parentSlot > this.#last) throw new ReadError('getBlocks', 0);
        this.#emitBlock(block);
        this.#last = block.slot;
      });
    }
  }

  #emitBlock(block: Block): void {
    if (this.#end.signal.aborted) return;
    if (this.#slotsWithLostAccounts.delete(block.slot)) this.#reportLost(block.slot);
    for (const update of updatesOf(block)) {
      this.#streamReader.handleUpdate(update);
      if (update.kind !== 'slot' || update.status !== 'createdBank') continue;
      for (const account of this.#accounts.get(block.slot) ?? []) this.#streamReader.handleUpdate(account);
    }
    // Remaining accounts of older slots belong to abandoned forks.
    for (const slot of this.#accounts.keys()) if (slot <= block.slot) this.#deleteAccounts(slot);
    for (const slot of this.#slotsWithLostAccounts)
      if (slot < block.slot) this.#slotsWithLostAccounts.delete(slot);
  }

  /** Drops a slot's accounts. Reports the loss when the block arrives, since the slot may be on an abandoned fork. */
  #evict(slot: Slot): void {
    const max = this.#options.limits.waitingAccountsMax;
    this.#log.warn(
      { slot: Number(slot), max },
      'Pending account limit reached; dropping the accounts of a slot',
    );
    this.#deleteAccounts(slot);
    this.#slotsWithLostAccounts.add(slot);
    if (this.#slotsWithLostAccounts.size <= this.#options.limits.slotsMax) return;
    const oldest = this.#slotsWithLostAccounts.values().next().value!;
    this.#slotsWithLostAccounts.delete(oldest);
    this.#reportLost(oldest);
  }

  #reportLost(slot: Slot): void {
    this.#options.listener.onLost(slot, slot, accountsOnly);
  }

  #deleteAccounts(slot: Slot): void {
    this.#bufferedCount -= this.#accounts.get(slot)?.length ?? 0;
    this.#accounts.delete(slot);
  }
}
