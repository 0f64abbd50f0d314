import { encodeTimestamp } from '../../protocol/geyser/encode/envelope.ts';
import { rawAccount } from '../../protocol/geyser/encode/raw-account.ts';
import { rawBlockMeta, rawEntry, rawSlot } from '../../protocol/geyser/encode/raw-slot.ts';
import { rawTransaction } from '../../protocol/geyser/encode/raw-transaction.ts';
import type { RawUpdate } from '../../protocol/geyser/raw-update.ts';
import type { SlotStatus } from '../../protocol/geyser/update/slot.ts';
import type { Account } from '../../solana/account/account.ts';
import type { Block } from '../../solana/block.ts';
import { type Slot, U64_MAX } from '../../solana/units.ts';
import type { AccountEvent, EventOf, LedgerEvent } from '../ledger-event.ts';
import { EMPTY_ACCOUNT } from '../notifier/account-notification.ts';
import type { GeyserListener } from './geyser-source.ts';

/** Encodes creation times of updates. The last encoding is cached. */
export class CreatedAt {
  #unixMs: bigint | null = null;
  #encoded: Uint8Array = new Uint8Array();

  of(unixMs: bigint): Uint8Array {
    if (unixMs !== this.#unixMs) {
      this.#unixMs = unixMs;
      this.#encoded = encodeTimestamp(unixMs);
    }
    return this.#encoded;
  }
}

/** Maximum slots tracked above the root; above this number, the oldest slot is evicted. */
const SLOTS_MAX = 1_024;

type SlotState = { parent: Slot | null; entries: number };

/** Emits updates as a Geyser plugin does. Sources: yellowstone-grpc, `plugin/message.rs`; solana-grpc.md §2.8. */
export class LedgerUpdates {
  readonly #listener: GeyserListener;
  readonly #createdAt = new CreatedAt();
  readonly #slots = new Map<Slot, SlotState>();

  constructor(listener: GeyserListener) {
    this.#listener = listener;
  }

  onEvent(event: LedgerEvent): void {
    const update = this.#updateOf(event);
    if (update !== null) this.#listener.onUpdate(update);
  }

  #updateOf(event: LedgerEvent): RawUpdate | null {
    const createdAt = this.#now();
    switch (event.kind) {
      case 'created':
        this.#slotState(event.slot).parent = event.parent;
        return this.#status(event.slot, 'createdBank');
      case 'firstShred':
        return this.#shredStatus(event.slot, 'firstShredReceived');
      case 'account':
        return rawAccount({ slot: event.slot, createdAt, write: writeOf(event), isStartup: false });
      case 'transaction':
        return this.#transaction(event);
      case 'entry':
        this.#slotState(event.slot).entries++;
        return rawEntry(event, createdAt);
      case 'block':
        return this.#blockMeta(event.block);
      case 'dead':
        return this.#status(event.slot, 'dead', event.err);
      case 'rooted':
        return this.#status(event.slot, 'finalized');
      case 'completed':
        return this.#shredStatus(event.slot, 'completed');
      case 'processed':
      case 'confirmed':
        return this.#status(event.slot, event.kind);
      case 'received':
      case 'frozen':
      case 'vote':
        return null;
    }
  }

  #now(): Uint8Array {
    return this.#createdAt.of(BigInt(Date.now()));
  }

  #status(slot: Slot, status: SlotStatus, deadError: string | null = null): RawUpdate {
    const { parent } = this.#slotState(slot);
    if (status === 'finalized' || status === 'dead') this.#slots.delete(slot);
    return rawSlot({ kind: 'slot', slot, parent, status, deadError }, this.#now());
  }

  /** As in Agave, statuses of received shreds have no parent. */
  #shredStatus(slot: Slot, status: SlotStatus): RawUpdate {
    return rawSlot({ kind: 'slot', slot, parent: null, status, deadError: null }, this.#now());
  }

  #transaction({ slot, index, executed, isVote }: EventOf<'transaction'>): RawUpdate | null {
    const [signature] = executed.transaction.signatures;
    if (signature === undefined) return null;
    const info = { signature, isVote, executed, index };
    return rawTransaction({ slot, createdAt: this.#now(), info });
  }

  #blockMeta(block: Block): RawUpdate {
    const state = this.#slotState(block.slot);
    state.parent ??= block.parentSlot;
    return rawBlockMeta(block, state.entries, this.#now());
  }

  #slotState(slot: Slot): SlotState {
    const existing = this.#slots.get(slot);
    if (existing !== undefined) return existing;
    const created: SlotState = { parent: null, entries: 0 };
    this.#slots.set(slot, created);
    if (this.#slots.size > SLOTS_MAX) this.#slots.delete(this.#slots.keys().next().value ?? slot);
    return created;
  }
}

/** Source: Agave, which stores closed accounts with the rent epoch of exempt ones. */
const CLOSED_ACCOUNT: Account = { ...EMPTY_ACCOUNT, rentEpoch: U64_MAX };

const writeOf = ({ address, account, writeVersion, signature }: AccountEvent) => ({
  address,
  account: account ?? CLOSED_ACCOUNT,
  writeVersion,
  signature,
});
