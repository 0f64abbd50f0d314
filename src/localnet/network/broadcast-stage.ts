import type { Keypair } from '../../solana/ed25519.ts';
import { type EncodableEntry, encodeEntries } from '../../solana/entries.ts';
import { fecSetCapacity, makeShreds } from '../../solana/shred/make-shreds.ts';
import {
  DATA_COMPLETE,
  DATA_FLAGS_OFFSET,
  DATA_HEADERS_BYTES,
  DATA_SIZE_OFFSET,
  FEC_SET_CODE_SHREDS,
  FEC_SET_DATA_SHREDS,
  MERKLE_ROOT_BYTES,
  SHREDS_PER_SLOT_MAX,
} from '../../solana/shred/shred-layout.ts';
import type { Signature } from '../../solana/signature.ts';
import type { Transaction } from '../../solana/transaction/transaction.ts';
import { slot } from '../../solana/units.ts';
import type { OpenSlotState } from '../bank/open-slot-state.ts';
import { HASHES_PER_ENTRY, mixinOf, type RecordedEntry, type SlotEntry } from '../bank/slot-entries.ts';
import type { SendShreds } from './shred-sender.ts';

/** Number of hashes, hash and number of transactions of an entry. */
export const ENTRY_BYTES = 8 + 32 + 8;
const COUNT_BYTES = 8;
const SET_SHREDS = FEC_SET_DATA_SHREDS + FEC_SET_CODE_SHREDS;

/** Bytes of entries that one erasure batch takes. */
export const BATCH_MAX_BYTES: number = fecSetCapacity(false) - COUNT_BYTES;

/** Transactions in batches that may be announced, in order. */
export function inBatches(transactions: readonly Transaction[]): Transaction[][] {
  const batches: Transaction[][] = [];
  let left = 0;
  for (const transaction of transactions) {
    const bytes = transaction.wire.length + ENTRY_BYTES;
    if (bytes > left) {
      batches.push([]);
      left = BATCH_MAX_BYTES;
    }
    batches.at(-1)?.push(transaction);
    left -= bytes;
  }
  return batches;
}

/** Whether a data shred is more than filling: it holds entries, or says where the next ones begin. */
const isNeeded = (packet: Uint8Array): boolean =>
  new DataView(packet.buffer, packet.byteOffset).getUint16(DATA_SIZE_OFFSET, true) > DATA_HEADERS_BYTES ||
  ((packet[DATA_FLAGS_OFFSET] as number) & DATA_COMPLETE) !== 0;

export type BroadcastStageOptions = Readonly<{
  /** Who leads in every slot: the node's identity. */
  leader: Keypair;
  /** The shred version of the ledger. */
  version: number;
  send: SendShreds;
}>;

/**
 * Sends what is going to run as shreds, before it runs, as a leader does: batches of entries in chained erasure
 * batches of 32:32, each data shreds with entries first. Source: agave turbine/src/broadcast_stage.
 */
export class BroadcastStage {
  readonly #options: BroadcastStageOptions;
  /** Transactions that were sent and have not run yet. */
  readonly #recorded = new Map<Signature, RecordedEntry>();
  #slot = -1;
  #fecSetIndex = 0;
  /** Nobody knows the last set of a run before this one. */
  #chainedRoot: Uint8Array = new Uint8Array(MERKLE_ROOT_BYTES);
  /** What is only needed where shreds are lost: code, and data that fills up a set. Of what has not run yet. */
  #rest: Uint8Array[] = [];

  constructor(options: BroadcastStageOptions) {
    this.#options = options;
  }

  /** Whether the slot has room for another batch beside its last, which holds the ticks. */
  hasCapacity(slotNumber: number, ticks: number): boolean {
    const lastSets = Math.ceil((COUNT_BYTES + ticks * ENTRY_BYTES) / fecSetCapacity(true)) + 1;
    const used = slotNumber === this.#slot ? this.#fecSetIndex : 0;
    return used + (lastSets + 1) * FEC_SET_DATA_SHREDS <= SHREDS_PER_SLOT_MAX;
  }

  /**
   * Records transactions as entries of the slot and sends their data shreds; both, or neither is recorded.
   * @param transactions - `BATCH_MAX_BYTES` of entries at most, in the order in which they are going to run.
   */
  announce(open: OpenSlotState, transactions: readonly Transaction[]): void {
    const recorded = new Map<Signature, RecordedEntry>();
    open.entries.allOrNothing(() => {
      const entries = transactions.map((transaction): EncodableEntry => {
        const entry = open.entries.record(mixinOf(transaction));
        recorded.set(transaction.signatures[0] as Signature, entry);
        return { numHashes: HASHES_PER_ENTRY, hash: entry.hash, transactions: [transaction.wire] };
      });
      this.#sendBatch(open.header.slot, entries, 0, false);
    });
    for (const [signature, entry] of recorded) this.#recorded.set(signature, entry);
  }

  /** The entry of a transaction that was sent and now runs; undefined when it was not sent. */
  take(transaction: Transaction): RecordedEntry | undefined {
    const signature = transaction.signatures[0] as Signature;
    const recorded = this.#recorded.get(signature);
    this.#recorded.delete(signature);
    return recorded;
  }

  /** Sends the shreds that wait for transactions to have run. */
  settle(): void {
    const rest = this.#rest;
    if (rest.length === 0) return;
    this.#rest = [];
    this.#options.send(rest, 'soon');
  }

  /** Sends the ticks of a slot, with which it ends. */
  end(slotNumber: number, ticks: readonly SlotEntry[]): void {
    const entries = ticks.map(({ hash }) => ({ numHashes: HASHES_PER_ENTRY, hash, transactions: [] }));
    this.#sendBatch(slotNumber, entries, ticks.length, true);
    this.settle();
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
    this.#rest.push(...made.packets.filter((packet, index) => !isUrgent(packet, index)));
  }
}
