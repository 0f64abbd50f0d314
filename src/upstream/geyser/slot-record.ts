import { createHash, randomBytes } from 'node:crypto';
import { HalfSipHash } from '../../base/half-sip-hash.ts';
import { bytesKey } from '../../base/text/bytes-key.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import type {
  RawAccount,
  RawBlockMeta,
  RawEntry,
  RawSlot,
  RawTransaction,
} from '../../protocol/geyser/raw-update.ts';
import type { SlotStatus } from '../../protocol/geyser/update/slot.ts';
import type { Slot } from '../../solana/units.ts';

const ROWS_FIRST = 64;

/** With a key of this process, so that nobody can choose keys that meet. */
const hash = new HalfSipHash(randomBytes(8));

/**
 * Counts by keys of bytes, in 12 bytes a key: each is known by 64 bits of a hash with a secret key, so two keys of a
 * slot are taken for one about once in 10^11 slots of 10,000 keys. Nothing is allocated for a key.
 */
export class SeenKeys {
  readonly #max: number;
  /** Rows of two hashes and a count; a row with count 0 is free. */
  #rows = new Int32Array(ROWS_FIRST * 3);
  #mask = ROWS_FIRST - 1;
  #size = 0;

  /** @param max - keys that are remembered; beyond it, `raise` takes every other one for new, each time. */
  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Raises the count of a key to a number.
   * @param first - whole words of 4 bytes.
   * @param second - behind the first, which makes one key of both.
   * @returns whether it was lower; true for a key that is not remembered when there is no room.
   */
  raise(first: Uint8Array, second: Uint8Array | null, to: number): boolean {
    hash.of(first, second);
    return this.#raise(hash.low, hash.high, to);
  }

  #raise(one: number, two: number, to: number): boolean {
    const at = this.#find(one, two);
    const count = this.#rows[at + 2]!;
    if (count >= to) return false;
    if (count === 0) {
      if (this.#size >= this.#max) return true;
      this.#rows[at] = one;
      this.#rows[at + 1] = two;
      this.#size++;
    }
    this.#rows[at + 2] = to;
    if (this.#size * 2 > this.#mask) this.#grow();
    return true;
  }

  /** Where the key is, or would be. */
  #find(one: number, two: number): number {
    const rows = this.#rows;
    for (let row = one & this.#mask; ; row = (row + 1) & this.#mask) {
      const at = row * 3;
      if (rows[at + 2] === 0 || (rows[at] === one && rows[at + 1] === two)) return at;
    }
  }

  #grow(): void {
    const old = this.#rows;
    this.#rows = new Int32Array(old.length * 2);
    this.#mask = this.#rows.length / 3 - 1;
    for (let at = 0; at < old.length; at += 3) {
      if (old[at + 2] === 0) continue;
      const to = this.#find(old[at]!, old[at + 1]!);
      this.#rows.set(old.subarray(at, at + 3), to);
    }
  }
}

/** A stream's view of the slot. */
type View = object;

type BufferedWrite = Readonly<{ view: View; write: string; update: RawAccount }>;
type LastWrite = Readonly<{ write: string; sources: Set<View> }>;

/**
 * Keeps the writes of each account of one slot in order where streams that were asked for different ones tell it. A
 * stream says them in order: one that another stream must have passed without a word is older than what that one has
 * told, and was not asked of it, unless that one comes to it still, or never comes to what was told.
 * Where nobody is there to go by, the newer writes are told again behind it.
 */
class WriteOrder {
  readonly #wasEmitted: boolean;
  /** By account: the write that was told last, and who has said it. */
  readonly #last = new Map<string, LastWrite>();
  /** Accounts of which an older write may have been told behind a newer one. */
  readonly #outOfOrder = new Set<string>();
  /** By account: what was not told, as its stream has not come to what was told last. */
  readonly #buffered = new Map<string, BufferedWrite[]>();

  /** @param wasTold - whether the slot was told to its end: any write that is new may be an older one. */
  constructor(wasEmitted: boolean) {
    this.#wasEmitted = wasEmitted;
  }

  /**
   * @param isNew - whether it was not told yet.
   * @param counts - whether what a stream says of the slot counts still.
   * @returns whether it is to be told.
   */
  take<V extends View>(
    view: V,
    update: RawAccount,
    isNew: boolean,
    isAuthoritative: (other: V) => boolean,
  ): boolean {
    if (update.signature === null) return isNew;
    const [account, write] = [bytesKey(update.address), bytesKey(update.signature)];
    const last = this.#last.get(account);
    if (last?.write === write) {
      last.sources.add(view);
      this.#dropBuffered(account, (buffered) => buffered.view === view);
      return false;
    }
    if (isNew || this.#dropBuffered(account, (buffered) => buffered.write === write)) {
      const isBehind = last === undefined ? this.#wasEmitted : !last.sources.has(view);
      if (isBehind && [...(last?.sources ?? [])].some((other) => isAuthoritative(other as V))) {
        this.#buffered.set(account, [...(this.#buffered.get(account) ?? []), { view, write, update }]);
        return false;
      }
      if (isBehind) this.#outOfOrder.add(account);
    } else if (!this.#outOfOrder.has(account)) return false;
    this.#last.set(account, { write, sources: new Set([view]) });
    return true;
  }

  /** @returns what a stream that comes to the end of the slot has said and nobody told: it may be the newest. */
  bufferedOf(view: View): RawAccount[] {
    const buffered = [...this.#buffered.values()].flat().filter((each) => each.view === view);
    return buffered.map(({ update }) => update);
  }

  /** @returns whether there was any. */
  #dropBuffered(account: string, isObsolete: (buffered: BufferedWrite) => boolean): boolean {
    const buffered = this.#buffered.get(account);
    if (buffered === undefined) return false;
    const remaining = buffered.filter((each) => !isObsolete(each));
    this.#buffered.set(account, remaining);
    return remaining.length < buffered.length;
  }
}

/**
 * `open` while it is being told; `waiting` when it is whole and a slot before it is not; `told` when it was told
 * whole; `lost` when it never will be.
 */
type SlotState = 'open' | 'waiting' | 'told' | 'lost';

/** What is in a slot. */
export type RawContent = RawTransaction | RawAccount | RawEntry;

/** What is told when a slot is whole. */
export type SlotEnd = Readonly<{ meta: RawBlockMeta; processed: RawSlot }>;

/** What of one slot was told, whoever told it. */
export class SlotRecord {
  readonly slot: Slot;
  parent: Slot | null = null;
  state: SlotState = 'open';
  /** How far it has come, as servers say. */
  level: Commitment = 'processed';
  /** Waits for the slot before. */
  end: SlotEnd | null = null;
  /** Of the version that was told; empty before. */
  blockhash = '';
  /** Since when; `performance.now()`. */
  waitingSince = 0;
  /** Versions of it that died before the one that is told, as its server counts them. */
  deaths = 0;
  /** Changes whenever telling starts over: what is said of the versions before is not told. */
  version = 0;
  /** What a server said whose version died, while others told it on. */
  deadUpdate: RawSlot | null = null;
  /** Null while all streams that tell it were asked for the same. */
  writeOrder: WriteOrder | null = null;
  #request: string | null = null;
  readonly #updatesMax: number;
  #statuses = new Set<SlotStatus>();
  #seenUpdates: SeenKeys;
  #entries = new Set<number>();

  /** @param updatesMax - updates that are remembered; what comes beyond them may be told more than once. */
  constructor(slot: Slot, updatesMax: number) {
    this.slot = slot;
    this.#updatesMax = updatesMax;
    this.#seenUpdates = new SeenKeys(updatesMax);
  }

  /** Whether it was told, or is given up. */
  get isSettled(): boolean {
    return this.state === 'told' || this.state === 'lost';
  }

  /** A stream tells it that was asked for this; null when that changes just now, or may. */
  noteRequest(request: string | null): void {
    this.#request ??= request;
    if (request === null || request !== this.#request) this.writeOrder ??= new WriteOrder(this.isSettled);
  }

  hasStatus(status: SlotStatus): boolean {
    return this.#statuses.has(status);
  }

  /** @returns whether a status was not told yet. */
  addStatus(status: SlotStatus): boolean {
    if (this.#statuses.has(status)) return false;
    this.#statuses.add(status);
    return true;
  }

  /**
   * @param nth - of an account that the slot itself wrote: which of such writes it is. Versions of two nodes have
   * nothing to do with each other.
   * @returns whether an update was not told yet.
   */
  addUpdate(update: RawContent, nth: number): boolean {
    switch (update.kind) {
      case 'transaction':
        return this.#seenUpdates.raise(update.signature, null, 1);
      case 'account':
        if (update.signature === null) return this.#addOwnWrite(update, nth);
        return this.#seenUpdates.raise(update.address, update.signature, 1);
      case 'entry':
        if (this.#entries.has(update.index)) return false;
        if (this.#entries.size < this.#updatesMax) this.#entries.add(update.index);
        return true;
    }
  }

  /** Replays may leave out all but the last write: what says something new is new, whichever of them it is. */
  #addOwnWrite({ address, lamports, owner, data }: RawAccount, nth: number): boolean {
    const state = createHash('sha256').update(owner).update(String(lamports)).update(data).digest();
    const isOther = this.#seenUpdates.raise(address, state, 1);
    return this.#seenUpdates.raise(address, null, nth) || isOther;
  }

  /** It died: nothing that was told of it counts when its bank is made again. */
  reset(deaths: number): void {
    this.deaths = deaths;
    this.version++;
    this.writeOrder = null;
    this.#request = null;
    this.deadUpdate = null;
    this.#statuses = new Set();
    this.#seenUpdates = new SeenKeys(this.#updatesMax);
    this.#entries = new Set();
  }
}
