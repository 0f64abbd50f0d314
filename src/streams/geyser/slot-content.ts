import { bytesKey } from '../../base/text/bytes-key.ts';
import { type Commitment, commitments } from '../../protocol/commitment.ts';
import type {
  RawAccount,
  RawBlock,
  RawBlockMeta,
  RawEntry,
  RawSlot,
  RawTransaction,
  RawUpdate,
} from '../../protocol/geyser/raw-update.ts';
import type { SlotStatus } from '../../protocol/geyser/update/slot.ts';
import type { Slot } from '../../solana/units.ts';

/** How far a slot has come: an index of `commitments`. */
export type Level = 0 | 1 | 2;

/** The level of a commitment; processed where none is named. */
export const levelOf = (commitment: Commitment = 'processed'): Level =>
  commitments.indexOf(commitment) as Level;

const levelByStatus: Readonly<Partial<Record<SlotStatus, Level>>> = {
  processed: 0,
  confirmed: 1,
  finalized: 2,
};

/** The level that a status says a slot has reached; undefined when it only says how the slot is made. */
export const levelOfStatus = (status: SlotStatus): Level | undefined => levelByStatus[status];

/**
 * Bytes of the heap that an update takes besides those of its message: the object, its views and its places in the
 * lists of its slot and of the block that is put together. Measured in Node 24 with updates read from a server's
 * stream.
 */
const OBJECT_BYTES: Readonly<Record<RawUpdate['kind'], number>> = {
  account: 1_000,
  transaction: 1_000,
  entry: 480,
  blockMeta: 640,
  slot: 420,
};
const KEY_OFFSET_BYTES = 8;

/** What an update takes while it is held, in bytes. */
const updateMemoryBytes = (update: RawUpdate): number =>
  OBJECT_BYTES[update.kind] +
  update.tail.length +
  (update.kind === 'transaction' ? update.keys.offsets.length * KEY_OFFSET_BYTES : 0);

/** What is told of a slot while it is made. */
export type RawContent = RawAccount | RawTransaction | RawEntry;

const NO_LEVEL = -1;
/** Statuses of one version of a slot: three of how it is made, its death, and three commitments are usual. */
const STATUSES_MAX = 64;

/** What was told of one slot, in order of arrival. */
export class SlotContent {
  readonly slot: Slot;
  parent: Slot | null = null;
  /** The statuses that were told, in order. */
  readonly statuses: RawSlot[] = [];
  /** What all of it takes in memory. */
  bytes = 0;
  level: Level | typeof NO_LEVEL = NO_LEVEL;
  #meta: RawBlockMeta | null = null;
  #content: RawContent[] = [];
  #finalContent: readonly RawContent[] | null = null;
  #block: RawBlock | null = null;

  constructor(slot: Slot) {
    this.slot = slot;
  }

  get isProcessed(): boolean {
    return this.level !== NO_LEVEL;
  }

  /** All of it: every write of every account. */
  get content(): readonly RawContent[] {
    return this.#content;
  }

  add(update: RawContent): void {
    this.#content.push(update);
    this.bytes += updateMemoryBytes(update);
    this.#finalContent = null;
    this.#block = null;
  }

  get meta(): RawBlockMeta | null {
    return this.#meta;
  }

  /** Says how the block ends. */
  close(meta: RawBlockMeta): void {
    this.#meta = meta;
    this.bytes += updateMemoryBytes(meta);
  }

  /** Keeps a status for those who begin in the past. Of how a slot is made no more than is ever told is kept. */
  addStatus(status: RawSlot): void {
    if (this.statuses.length >= STATUSES_MAX && levelOfStatus(status.status) === undefined) return;
    this.statuses.push(status);
    this.bytes += updateMemoryBytes(status);
  }

  /** Another version of the slot begins: what was told of the one before counts no more. */
  restart(): void {
    this.#content = [];
    this.#finalContent = null;
    this.#block = null;
    this.parent = null;
    this.#meta = null;
    this.statuses.length = 0;
    this.bytes = 0;
    this.level = NO_LEVEL;
  }

  /** What whoever waits for a commitment is told: of each account only the last write. */
  finalContent(): readonly RawContent[] {
    this.#finalContent ??= lastWrites(this.#content);
    return this.#finalContent;
  }

  /** The whole block; null where nothing tells how it begins and ends. */
  block(createdAt: Uint8Array): RawBlock | null {
    const { meta } = this;
    if (meta === null) return null;
    this.#block ??= assemble(meta, this.finalContent(), createdAt);
    return this.#block;
  }
}

/** Whether a write that came later is the older one, as the node says that told both. */
const isOlder = (update: RawAccount, existing: RawAccount): boolean =>
  update.origin === existing.origin && update.writeVersion < existing.writeVersion;

/**
 * Arrival is the order of the writes, for an account is locked while it is written, unless one stream told both and
 * counts them otherwise. What streams of two nodes count cannot be compared.
 */
function lastWrites(content: readonly RawContent[]): readonly RawContent[] {
  const last = new Map<string, RawAccount>();
  let writes = 0;
  for (const update of content) {
    if (update.kind !== 'account') continue;
    writes++;
    const key = bytesKey(update.address);
    const existing = last.get(key);
    if (existing === undefined || !isOlder(update, existing)) last.set(key, update);
  }
  if (last.size === writes) return content;
  return content.filter(
    (update) => update.kind !== 'account' || last.get(bytesKey(update.address)) === update,
  );
}

function assemble(meta: RawBlockMeta, content: readonly RawContent[], createdAt: Uint8Array): RawBlock {
  const transactions: RawTransaction[] = [];
  const accounts: RawAccount[] = [];
  const entries: RawEntry[] = [];
  for (const update of content) {
    if (update.kind === 'transaction') transactions.push(update);
    else if (update.kind === 'account') accounts.push(update);
    else entries.push(update);
  }
  const updatedAccountCount = meta.updatedAccountCount ?? accounts.length;
  return {
    kind: 'block',
    slot: meta.slot,
    createdAt,
    meta,
    transactions,
    accounts,
    entries,
    updatedAccountCount,
  };
}
