import { bytesKey } from '../../base/bytes-key.ts';
import type { Slot } from '../../ledger/units.ts';
import type {
  RawAccount,
  RawBlock,
  RawBlockMeta,
  RawEntry,
  RawSlot,
  RawTransaction,
} from '../../protocol/geyser/raw-update.ts';
import { heldBytes } from './held-bytes.ts';
import { type Level, levelOfStatus } from './level.ts';

/** What is told of a slot while it is made. */
export type RawContent = RawAccount | RawTransaction | RawEntry;

const NOTHING_REACHED = -1;
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
  reached: Level | typeof NOTHING_REACHED = NOTHING_REACHED;
  #meta: RawBlockMeta | null = null;
  #content: RawContent[] = [];
  #settled: readonly RawContent[] | null = null;
  #block: RawBlock | null = null;

  constructor(slot: Slot) {
    this.slot = slot;
  }

  get isProcessed(): boolean {
    return this.reached !== NOTHING_REACHED;
  }

  /** All of it: every write of every account. */
  get content(): readonly RawContent[] {
    return this.#content;
  }

  add(update: RawContent): void {
    this.#content.push(update);
    this.bytes += heldBytes(update);
    this.#settled = null;
    this.#block = null;
  }

  get meta(): RawBlockMeta | null {
    return this.#meta;
  }

  /** Says how the block ends. */
  close(meta: RawBlockMeta): void {
    this.#meta = meta;
    this.bytes += heldBytes(meta);
  }

  /** Keeps a status for those who begin in the past. Of how a slot is made no more than is ever told is kept. */
  addStatus(status: RawSlot): void {
    if (this.statuses.length >= STATUSES_MAX && levelOfStatus(status.status) === undefined) return;
    this.statuses.push(status);
    this.bytes += heldBytes(status);
  }

  /** Another version of the slot begins: what was told of the one before counts no more. */
  restart(): void {
    this.#content = [];
    this.#settled = null;
    this.#block = null;
    this.parent = null;
    this.#meta = null;
    this.statuses.length = 0;
    this.bytes = 0;
    this.reached = NOTHING_REACHED;
  }

  /** What whoever waits for a commitment is told: of each account only the last write. */
  settled(): readonly RawContent[] {
    this.#settled ??= lastWrites(this.#content);
    return this.#settled;
  }

  /** The whole block; null where nothing tells how it begins and ends. */
  block(createdAt: Uint8Array): RawBlock | null {
    const { meta } = this;
    if (meta === null) return null;
    this.#block ??= assemble(meta, this.settled(), createdAt);
    return this.#block;
  }
}

/** Whether a write that came later is the older one, as the node says that told both. */
const isOlder = (update: RawAccount, known: RawAccount): boolean =>
  update.origin === known.origin && update.writeVersion < known.writeVersion;

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
    const known = last.get(key);
    if (known === undefined || !isOlder(update, known)) last.set(key, update);
  }
  if (last.size === writes) return content;
  return content.filter(
    (update) => update.kind !== 'account' || last.get(bytesKey(update.address)) === update,
  );
}

function assemble(meta: RawBlockMeta, settled: readonly RawContent[], createdAt: Uint8Array): RawBlock {
  const transactions: RawTransaction[] = [];
  const accounts: RawAccount[] = [];
  const entries: RawEntry[] = [];
  for (const update of settled) {
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
