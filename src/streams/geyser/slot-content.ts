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

/** Index into `commitments`. */
export type Level = 0 | 1 | 2;

export const levelOf = (commitment: Commitment = 'processed'): Level =>
  commitments.indexOf(commitment) as Level;

const levelByStatus: ReadonlyMap<SlotStatus, Level> = new Map(
  commitments.map((status) => [status, levelOf(status)]),
);

export const levelOfStatus = (status: SlotStatus): Level | undefined => levelByStatus.get(status);

/** Heap bytes of an update without its message, measured in Node 24 with updates received from a server. */
const OBJECT_BYTES: Readonly<Record<RawUpdate['kind'], number>> = {
  account: 1_000,
  transaction: 1_000,
  entry: 480,
  blockMeta: 640,
  slot: 420,
};
const KEY_OFFSET_BYTES = 8;

const updateMemoryBytes = (update: RawUpdate): number =>
  OBJECT_BYTES[update.kind] +
  update.tail.length +
  (update.kind === 'transaction' ? update.keys.offsets.length * KEY_OFFSET_BYTES : 0);

export type RawContent = RawAccount | RawTransaction | RawEntry;

const NO_LEVEL = -1;
/** Maximum statuses per slot version; seven are usual. Commitment statuses are stored even above this number. */
const STATUSES_MAX = 64;

export class SlotContent {
  readonly slot: Slot;
  parent: Slot | null = null;
  readonly statuses: RawSlot[] = [];
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

  /** Includes every write of every account. */
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

  setMeta(meta: RawBlockMeta): void {
    this.#meta = meta;
    this.bytes += updateMemoryBytes(meta);
  }

  addStatus(status: RawSlot): void {
    if (this.statuses.length >= STATUSES_MAX && levelOfStatus(status.status) === undefined) return;
    this.statuses.push(status);
    this.bytes += updateMemoryBytes(status);
  }

  /** Starts a new version of the slot. */
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

  /** All content, but only the last write of each account. */
  finalContent(): readonly RawContent[] {
    this.#finalContent ??= withLastWritesOnly(this.#content);
    return this.#finalContent;
  }

  block(createdAt: Uint8Array): RawBlock | null {
    const { meta } = this;
    if (meta === null) return null;
    this.#block ??= assemble(meta, this.finalContent(), createdAt);
    return this.#block;
  }
}

const isOlder = (update: RawAccount, existing: RawAccount): boolean =>
  update.origin === existing.origin && update.writeVersion < existing.writeVersion;

/**
 * Keeps only the last write of each account: the last to arrive, because transactions lock the accounts that they
 * write. Of two writes from the same stream, however, the one with the higher write version is the last.
 */
function withLastWritesOnly(content: readonly RawContent[]): readonly RawContent[] {
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
