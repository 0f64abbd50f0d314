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
import type { CountedKind } from './merge-filters.ts';

const ROWS_FIRST = 64;

/** Random key per process, so that clients cannot provoke collisions. */
const hash = new HalfSipHash(randomBytes(8));

/** Counts keys by a 64-bit keyed hash. With 10,000 keys per slot, about one slot in 10^11 has a collision. */
export class SeenKeys {
  readonly #max: number;
  /** Rows of two hash words and a count; count 0 marks a free row. */
  #rows = new Int32Array(ROWS_FIRST * 3);
  #mask = ROWS_FIRST - 1;
  #size = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#size;
  }

  /** Raises the count of a key. `first`: a multiple of 4 bytes long. @returns false if the count was at least `to`. */
  raise(first: Uint8Array, second: Uint8Array | null, to: number): boolean {
    hash.of(first, second);
    const { low, high } = hash;
    const at = this.#find(low, high);
    const count = this.#rows[at + 2]!;
    if (count >= to) return false;
    if (count === 0) {
      if (this.#size >= this.#max) return true;
      this.#rows[at] = low;
      this.#rows[at + 1] = high;
      this.#size++;
    }
    this.#rows[at + 2] = to;
    if (this.#size * 2 > this.#mask) this.#grow();
    return true;
  }

  #find(low: number, high: number): number {
    const rows = this.#rows;
    for (let row = low & this.#mask; ; row = (row + 1) & this.#mask) {
      const at = row * 3;
      if (rows[at + 2] === 0 || (rows[at] === low && rows[at + 1] === high)) return at;
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

/** One stream's view of a slot. Not authoritative if the view is incomplete or the slot was restarted. */
type View = Readonly<{ isAuthoritative: boolean }>;

type BufferedWrite = Readonly<{ view: View; write: string; update: RawAccount }>;
type LastWrite = Readonly<{ write: string; sources: Set<View> }>;

/**
 * Keeps the account writes of a slot in order when its streams have different requests. Each stream sends its writes
 * in order. A write from a stream that has not yet sent the last emitted write is probably older than that write: it is
 * buffered, and dropped if its stream then sends the last emitted write. If no stream that sent the last emitted write
 * is authoritative, the write is emitted at once, and newer writes are emitted again after it.
 */
class WriteOrder {
  readonly #wasEmitted: boolean;
  readonly #last = new Map<string, LastWrite>();
  /** Accounts for which an older write may have been emitted after a newer write. */
  readonly #outOfOrder = new Set<string>();
  /** Writes, by account, that wait for their stream to send the last emitted write. */
  readonly #buffered = new Map<string, BufferedWrite[]>();

  /** `wasEmitted`: the slot was emitted completely, so a new write may be older than emitted writes. */
  constructor(wasEmitted: boolean) {
    this.#wasEmitted = wasEmitted;
  }

  /** Records a write and decides whether to emit it now. */
  shouldEmit(view: View, update: RawAccount, isNew: boolean): boolean {
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
      if (isBehind && [...(last?.sources ?? [])].some(({ isAuthoritative }) => isAuthoritative)) {
        this.#buffered.set(account, [...(this.#buffered.get(account) ?? []), { view, write, update }]);
        return false;
      }
      if (isBehind) this.#outOfOrder.add(account);
    } else if (!this.#outOfOrder.has(account)) return false;
    this.#last.set(account, { write, sources: new Set([view]) });
    return true;
  }

  /** Buffered writes from a stream that has completed the slot. They may be the newest writes. */
  bufferedOf(view: View): RawAccount[] {
    const buffered = [...this.#buffered.values()].flat().filter((each) => each.view === view);
    return buffered.map(({ update }) => update);
  }

  #dropBuffered(account: string, isObsolete: (buffered: BufferedWrite) => boolean): boolean {
    const buffered = this.#buffered.get(account);
    if (buffered === undefined) return false;
    const remaining = buffered.filter((each) => !isObsolete(each));
    this.#buffered.set(account, remaining);
    return remaining.length < buffered.length;
  }
}

/** `waiting`: complete, but the parent is not settled yet. `lost`: given up. */
type SlotState = 'open' | 'waiting' | 'emitted' | 'lost';

export type RawContent = RawTransaction | RawAccount | RawEntry;

export type SlotEnd = Readonly<{ meta: RawBlockMeta; processed: RawSlot }>;

/** State of one slot across all streams, including which updates were emitted. */
export class SlotRecord {
  readonly slot: Slot;
  parent: Slot | null = null;
  state: SlotState = 'open';
  level: Commitment = 'processed';
  end: SlotEnd | null = null;
  blockhash = '';
  /** On the `performance.now()` clock. */
  waitingSince = 0;
  /** Number of dead versions before the current version, as counted by the stream that sends it. */
  deaths = 0;
  /** Incremented when emission restarts; updates of earlier versions are dropped. */
  version = 0;
  /** Set when one server reports the slot as dead while others still send it. */
  deadUpdate: RawSlot | null = null;
  /** Null while all streams of the slot have the same request. */
  writeOrder: WriteOrder | null = null;
  #request: string | null = null;
  readonly #updatesMax: number;
  #statuses = new Set<SlotStatus>();
  #seenUpdates: SeenKeys;
  #entries = new Set<number>();
  /** Number of updates emitted in this version. */
  readonly emitted: Record<CountedKind, number> = { transaction: 0, entry: 0 };
  /** Number of entries up to the last received one. */
  entriesMin = 0;

  /** Updates beyond `updatesMax` may be duplicated. */
  constructor(slot: Slot, updatesMax: number) {
    this.slot = slot;
    this.#updatesMax = updatesMax;
    this.#seenUpdates = new SeenKeys(updatesMax);
  }

  get isSettled(): boolean {
    return this.state === 'emitted' || this.state === 'lost';
  }

  /** Records the request of a stream that sends the slot. null: the request may be changing. */
  noteRequest(request: string | null): void {
    this.#request ??= request;
    if (request === null || request !== this.#request) this.writeOrder ??= new WriteOrder(this.isSettled);
  }

  hasStatus(status: SlotStatus): boolean {
    return this.#statuses.has(status);
  }

  addStatus(status: SlotStatus): boolean {
    if (this.#statuses.has(status)) return false;
    this.#statuses.add(status);
    return true;
  }

  /**
   * @param nth - ordinal of a write without a signature, used because write versions are not comparable across nodes.
   * @returns whether the update is new.
   */
  addUpdate(update: RawContent, nth: number): boolean {
    switch (update.kind) {
      case 'transaction':
        if (!this.#seenUpdates.raise(update.signature, null, 1)) return false;
        this.emitted.transaction++;
        return true;
      case 'account':
        if (update.signature === null) return this.#addOwnWrite(update, nth);
        return this.#seenUpdates.raise(update.address, update.signature, 1);
      case 'entry':
        if (this.#entries.has(update.index)) return false;
        if (this.#entries.size < this.#updatesMax) this.#entries.add(update.index);
        this.emitted.entry++;
        this.entriesMin = Math.max(this.entriesMin, update.index + 1);
        return true;
    }
  }

  /** A replay may contain only the last write, so different content counts as new regardless of `nth`. */
  #addOwnWrite({ address, lamports, owner, data }: RawAccount, nth: number): boolean {
    const state = createHash('sha256').update(owner).update(String(lamports)).update(data).digest();
    const isOther = this.#seenUpdates.raise(address, state, 1);
    return this.#seenUpdates.raise(address, null, nth) || isOther;
  }

  /** Restarts a dead slot: earlier updates no longer count as emitted. */
  reset(deaths: number): void {
    this.deaths = deaths;
    this.version++;
    this.writeOrder = null;
    this.#request = null;
    this.deadUpdate = null;
    this.#statuses = new Set();
    this.#seenUpdates = new SeenKeys(this.#updatesMax);
    this.#entries = new Set();
    this.emitted.transaction = 0;
    this.emitted.entry = 0;
    this.entriesMin = 0;
  }
}
