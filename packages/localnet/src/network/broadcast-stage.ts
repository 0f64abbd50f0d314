import type { Keypair } from '../../../../src/solana/ed25519.ts';
import { type EncodableEntry, encodeEntries } from '../../../../src/solana/entries.ts';
import { fecSetCapacity, makeShreds } from '../../../../src/solana/shred/make-shreds.ts';
import {
  DATA_COMPLETE,
  DATA_FLAGS_OFFSET,
  DATA_HEADERS_BYTES,
  DATA_SIZE_OFFSET,
  FEC_SET_CODE_SHREDS,
  FEC_SET_DATA_SHREDS,
  MERKLE_ROOT_BYTES,
  SHREDS_PER_SLOT_MAX,
} from '../../../../src/solana/shred/shred-layout.ts';
import type { Signature } from '../../../../src/solana/signature.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import { slot } from '../../../../src/solana/units.ts';
import type { OpenSlotState } from '../bank/open-slot-state.ts';
import { HASHES_PER_ENTRY, mixinOf, type RecordedEntry, type SlotEntry } from '../bank/slot-entries.ts';
import type { SendShreds } from './shred-sender.ts';

/** Size of an entry without transactions: hash count, hash, transaction count. */
export const ENTRY_BYTES = 8 + 32 + 8;
const COUNT_BYTES = 8;
const SET_SHREDS = FEC_SET_DATA_SHREDS + FEC_SET_CODE_SHREDS;

/** Entry bytes per erasure batch. */
export const BATCH_MAX_BYTES: number = fecSetCapacity(false) - COUNT_BYTES;

/** Splits transactions into batches that fit into one announcement. */
export function inBatches(transactions: readonly Transaction[]): Transaction[][] {
  const batches: Transaction[][] = [];
  let remainingBytes = 0;
  for (const transaction of transactions) {
    const bytes = transaction.wire.length + ENTRY_BYTES;
    if (bytes > remainingBytes) {
      batches.push([]);
      remainingBytes = BATCH_MAX_BYTES;
    }
    batches.at(-1)?.push(transaction);
    remainingBytes -= bytes;
  }
  return batches;
}

/** Whether a data shred contains entries or completes a batch; false for padding. */
const isNeeded = (packet: Uint8Array): boolean =>
  new DataView(packet.buffer, packet.byteOffset).getUint16(DATA_SIZE_OFFSET, true) > DATA_HEADERS_BYTES ||
  ((packet[DATA_FLAGS_OFFSET] as number) & DATA_COMPLETE) !== 0;

type BroadcastStageOptions = Readonly<{
  /** Leader of every slot. */
  leader: Keypair;
  version: number;
  send: SendShreds;
}>;

/**
 * Sends transactions as shreds before they are executed. Entry batches form chained 32:32 erasure sets; the data
 * shreds with entries are sent first. Source: agave turbine/src/broadcast_stage.
 */
export class BroadcastStage {
  readonly #options: BroadcastStageOptions;
  /** Entries of announced transactions that have not been executed. */
  readonly #recorded = new Map<Signature, RecordedEntry>();
  #slot = -1;
  #fecSetIndex = 0;
  /** Merkle root of the previous set; not known after a restart. */
  #chainedRoot: Uint8Array = new Uint8Array(MERKLE_ROOT_BYTES);
  /** Code and padding shreds of transactions that have not been executed. Only recovery needs them. */
  #deferred: Uint8Array[] = [];

  constructor(options: BroadcastStageOptions) {
    this.#options = options;
  }

  /** Whether the slot has space for another batch besides the last one, which contains the ticks. */
  hasCapacity(slotNumber: number, ticks: number): boolean {
    const lastSets = Math.ceil((COUNT_BYTES + ticks * ENTRY_BYTES) / fecSetCapacity(true)) + 1;
    const used = slotNumber === this.#slot ? this.#fecSetIndex : 0;
    return used + (lastSets + 1) * FEC_SET_DATA_SHREDS <= SHREDS_PER_SLOT_MAX;
  }

  /**
   * Records transactions as entries and sends their data shreds, atomically.
   * @param transactions - in execution order; their entries have at most `BATCH_MAX_BYTES`.
   */
  announce(open: OpenSlotState, transactions: readonly Transaction[]): void {
    const recorded = new Map<Signature, RecordedEntry>();
    open.entries.atomically(() => {
      const entries = transactions.map((transaction): EncodableEntry => {
        const entry = open.entries.record(mixinOf(transaction));
        recorded.set(transaction.signatures[0] as Signature, entry);
        return { numHashes: HASHES_PER_ENTRY, hash: entry.hash, transactions: [transaction.wire] };
      });
      this.#sendBatch(open.header.slot, entries, 0, false);
    });
    for (const [signature, entry] of recorded) this.#recorded.set(signature, entry);
  }

  /** Removes and returns the entry of a transaction; undefined if it was not announced. */
  takeEntry(transaction: Transaction): RecordedEntry | undefined {
    const signature = transaction.signatures[0] as Signature;
    const recorded = this.#recorded.get(signature);
    this.#recorded.delete(signature);
    return recorded;
  }

  /** Sends the deferred shreds, after the transactions have been executed. */
  sendDeferred(): void {
    const rest = this.#deferred;
    if (rest.length === 0) return;
    this.#deferred = [];
    this.#options.send(rest, 'soon');
  }

  /** Sends the ticks that end a slot. */
  endSlot(slotNumber: number, ticks: readonly SlotEntry[]): void {
    const entries = ticks.map(({ hash }) => ({ numHashes: HASHES_PER_ENTRY, hash, transactions: [] }));
    this.#sendBatch(slotNumber, entries, ticks.length, true);
    this.sendDeferred();
  }

  #sendBatch(
    slotNumber: number,
    entries: readonly EncodableEntry[],
    referenceTick: number,
    isLastInSlot: boolean,
  ): void {
    const { leader, version, send } = this.#options;
    if (slotNumber !== this.#slot) this.#fecSetIndex = 0;
    this.#slot = slotNumber;
    const made = makeShreds({
      slot: slot(slotNumber),
      parentOffset: 1,
      ...{ version, referenceTick, isLastInSlot },
      fecSetIndex: this.#fecSetIndex,
      chainedRoot: this.#chainedRoot,
      sign: (root) => leader.sign(root),
      entries: encodeEntries(entries),
    });
    this.#fecSetIndex = made.fecSetIndex;
    this.#chainedRoot = made.chainedRoot;
    const isUrgent = (packet: Uint8Array, index: number): boolean =>
      index % SET_SHREDS < FEC_SET_DATA_SHREDS && isNeeded(packet);
    send(made.packets.filter(isUrgent), 'now');
    this.#deferred.push(...made.packets.filter((packet, index) => !isUrgent(packet, index)));
  }
}
