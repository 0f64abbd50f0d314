import type { Commitment } from '../../../src/protocol/commitment.ts';
import { encodeTimestamp } from '../../../src/protocol/geyser/encode/envelope.ts';
import { rawAccount } from '../../../src/protocol/geyser/encode/raw-account.ts';
import { rawBlockMeta, rawSlot } from '../../../src/protocol/geyser/encode/raw-slot.ts';
import { rawTransaction } from '../../../src/protocol/geyser/encode/raw-transaction.ts';
import type { RawUpdate } from '../../../src/protocol/geyser/raw-update.ts';
import type { SlotStatus } from '../../../src/protocol/geyser/update/slot.ts';
import type { Account } from '../../../src/solana/account/account.ts';
import { type Address, addressFromBytes } from '../../../src/solana/address.ts';
import { blockhashFromBytes } from '../../../src/solana/blockhash.ts';
import { encodeMessage } from '../../../src/solana/message/message.ts';
import { signatureFromBytes } from '../../../src/solana/signature.ts';
import { compileMessage } from '../../../src/solana/transaction/compile-message.ts';
import { encodeTransaction } from '../../../src/solana/transaction/encode-transaction.ts';
import type { Transaction } from '../../../src/solana/transaction/transaction.ts';
import type { TransactionMeta } from '../../../src/solana/transaction/transaction-meta.ts';
import { lamports, slot as slotOf } from '../../../src/solana/units.ts';

/** Parameters of a generated ledger: equal parameters generate equal ledgers. */
export type Drawing = Readonly<{
  /** Start of slot FIRST_SLOT, Unix milliseconds. */
  startedAt: number;
  slotMs: number;
  /** Account writes and transactions per slot, half each. */
  updatesPerSlot: number;
  /** Owners of accounts, one per reader. */
  owners: number;
}>;

export const FIRST_SLOT = 1_000;
/** Slots behind the newest one. */
const lags: Readonly<Record<Commitment, number>> = { processed: 0, confirmed: 2, finalized: 32 };
const DATA_BYTES = 700;

function addressOf(kind: number, number: number): Address {
  const bytes = new Uint8Array(32).fill(kind);
  new DataView(bytes.buffer).setUint32(4, number);
  return addressFromBytes(bytes);
}

/** The owner whose accounts and transactions a reader receives. */
export const ownerOf = (reader: number): Address => addressOf(21, reader);
const SYSTEM = addressFromBytes(new Uint8Array(32));

const meta: TransactionMeta = {
  err: null,
  fee: lamports(5_000),
  preBalances: [lamports(10), lamports(10), lamports(1)],
  postBalances: [lamports(10), lamports(10), lamports(1)],
  innerInstructions: [],
  logMessages: ['Program 11111111111111111111111111111111 invoke [1]'],
  preTokenBalances: [],
  postTokenBalances: [],
  rewards: [],
  loadedAddresses: { writable: [], readonly: [] },
  returnData: null,
  computeUnitsConsumed: 150n,
  costUnits: 300n,
};

/** The number of an update within its slot, and its slot, stand in each signature. */
function signatureOf(slot: number, nth: number): Uint8Array {
  const bytes = new Uint8Array(64).fill(3);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, slot);
  view.setUint32(4, nth);
  return bytes;
}

/** A ledger whose slots and updates follow from time and parameters, so that a server needs no memory of what it sent. */
export class RandomLedger {
  readonly #drawing: Drawing;
  readonly #messages: readonly Pick<Transaction, 'message' | 'messageBytes'>[];
  readonly #owners: readonly Address[];

  constructor(drawing: Drawing) {
    this.#drawing = drawing;
    this.#owners = Array.from({ length: drawing.owners }, (_, reader) => ownerOf(reader));
    this.#messages = this.#owners.map((owner) => {
      const message = compileMessage({
        feePayer: addressOf(22, 0),
        recentBlockhash: blockhashFromBytes(new Uint8Array(32).fill(4)),
        instructions: [
          {
            programId: SYSTEM,
            accounts: [{ address: owner, signer: false, writable: true }],
            data: new Uint8Array(120),
          },
        ],
      });
      return { message, messageBytes: encodeMessage(message) };
    });
  }

  slotAt(unixMs: number): number {
    const { startedAt, slotMs } = this.#drawing;
    return FIRST_SLOT + Math.floor((unixMs - startedAt) / slotMs);
  }

  /** When a slot reaches a commitment, Unix milliseconds. */
  reachesAt(slot: number, commitment: Commitment): number {
    const { startedAt, slotMs } = this.#drawing;
    return startedAt + (slot + lags[commitment] + 1 - FIRST_SLOT) * slotMs;
  }

  /** Whether an account is as written by an update of a slot. */
  isState(slot: number, nth: number, { lamports, data }: Account): boolean {
    return Number(lamports) === slot && data.length === DATA_BYTES && data[0] === nth % 256;
  }

  /** The reader of an update. */
  readerOf(slot: number, nth: number): number {
    return (slot * 13 + nth) % this.#drawing.owners;
  }

  /** Numbers of the updates of a slot for one reader. */
  owed(slot: number, reader: number): number[] {
    const numbers = Array.from({ length: this.#drawing.updatesPerSlot }, (_, nth) => nth);
    return numbers.filter((nth) => this.readerOf(slot, nth) === reader);
  }

  /** Some updates of a slot: writes have even numbers, transactions odd ones. */
  content(slot: number, from: number, to: number): RawUpdate[] {
    const updates: RawUpdate[] = [];
    for (let nth = from; nth < to; nth++) {
      updates.push(nth % 2 === 0 ? this.#write(slot, nth) : this.#transaction(slot, nth));
    }
    return updates;
  }

  beginning(slot: number): RawUpdate[] {
    return [this.#status(slot, 'createdBank')];
  }

  /** End of a slot, and commitments that earlier slots reach with it. */
  end(slot: number): RawUpdate[] {
    const updates = [this.#meta(slot), this.#status(slot, 'processed')];
    for (const level of ['confirmed', 'finalized'] as const) {
      if (slot - lags[level] >= FIRST_SLOT) updates.push(this.#status(slot - lags[level], level));
    }
    return updates;
  }

  #at(slot: number): Uint8Array {
    return encodeTimestamp(BigInt(this.#drawing.startedAt + (slot - FIRST_SLOT) * this.#drawing.slotMs));
  }

  #status(slot: number, status: SlotStatus): RawUpdate {
    const update = {
      kind: 'slot',
      slot: slotOf(slot),
      parent: slotOf(slot - 1),
      status,
      deadError: null,
    } as const;
    return rawSlot(update, this.#at(slot));
  }

  #write(slot: number, nth: number): RawUpdate {
    const owner = this.#owners[this.readerOf(slot, nth)]!;
    return rawAccount({
      slot: slotOf(slot),
      createdAt: this.#at(slot),
      isStartup: false,
      write: {
        // No account is written twice in a slot: the updates are the same at all commitments.
        address: addressOf(23, nth),
        account: {
          lamports: lamports(slot),
          data: new Uint8Array(DATA_BYTES).fill(nth),
          owner,
          executable: false,
          rentEpoch: 0n,
        },
        writeVersion: BigInt(slot * this.#drawing.updatesPerSlot + nth),
        signature: signatureFromBytes(signatureOf(slot, nth)),
      },
    });
  }

  #transaction(slot: number, nth: number): RawUpdate {
    const { message, messageBytes } = this.#messages[this.readerOf(slot, nth)]!;
    const bytes = signatureOf(slot, nth);
    const signature = signatureFromBytes(bytes);
    const wire = encodeTransaction([bytes], messageBytes);
    const transaction = { signatures: [signature], message, messageBytes, wire };
    const placed = { signature, isVote: false, executed: { transaction, meta }, index: (nth - 1) / 2 };
    return rawTransaction({ slot: slotOf(slot), createdAt: this.#at(slot), info: placed });
  }

  #meta(slot: number): RawUpdate {
    const { updatesPerSlot } = this.#drawing;
    const hash = (at: number) => {
      const bytes = new Uint8Array(32).fill(9);
      new DataView(bytes.buffer).setUint32(0, at);
      return blockhashFromBytes(bytes);
    };
    return rawBlockMeta(
      {
        kind: 'blockMeta',
        slot: slotOf(slot),
        blockhash: hash(slot),
        rewards: [],
        numRewardPartitions: null,
        blockTime: null,
        blockHeight: BigInt(slot),
        parentSlot: slotOf(slot - 1),
        parentBlockhash: hash(slot - 1),
        executedTransactionCount: Math.floor(updatesPerSlot / 2),
        entriesCount: 0,
      },
      this.#at(slot),
      null,
    );
  }
}

/** Slot and number in a signature of a generated ledger. */
export function numbersIn(signature: Uint8Array): Readonly<{ slot: number; nth: number }> {
  const view = new DataView(signature.buffer, signature.byteOffset, signature.length);
  return { slot: view.getUint32(0), nth: view.getUint32(4) };
}
