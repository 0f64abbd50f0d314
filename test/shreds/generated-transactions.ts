import { SubscribeUpdate, SubscribeUpdateDeshred } from '@triton-one/yellowstone-grpc';
import type { GrpcStatus } from '../../src/protocol/grpc/status.ts';
import { decodeEntryMessage } from '../../src/protocol/shredstream/entries.ts';
import { type Address, addressFromBytes } from '../../src/solana/address.ts';
import { blockhashFromBytes } from '../../src/solana/blockhash.ts';
import { encodeEntries } from '../../src/solana/entries.ts';
import { encodeMessage } from '../../src/solana/message/message.ts';
import { programs } from '../../src/solana/programs.ts';
import { encodeTransaction } from '../../src/solana/transaction/encode-transaction.ts';
import { slot as slotOf } from '../../src/solana/units.ts';
import type { EntryBatch } from '../../src/streams/deshred/deshred-event.ts';
import type { GeyserSink } from '../../src/streams/geyser/geyser-sink.ts';

/** Transactions and batches for the shred stage, and a sink that decodes messages. */

export const keyBytes = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);
export const keyAt = (fill: number): Address => addressFromBytes(keyBytes(fill));
export const signatureAt = (fill: number): Uint8Array => new Uint8Array(64).fill(fill);

export type GeneratedTransaction = Readonly<{
  /** Value of every byte of its signature. */
  name: number;
  /** Byte values of the static keys; the program of its only instruction follows. */
  keys?: readonly number[];
  vote?: boolean;
  /** If given, the transaction has version 0. */
  lookups?: readonly Readonly<{ table: number; writable: readonly number[]; readonly: readonly number[] }>[];
}>;

export function generateWire({
  name,
  keys = [name],
  vote = false,
  lookups,
}: GeneratedTransaction): Uint8Array {
  const program = vote ? programs.vote : programs.system;
  const message = encodeMessage({
    version: lookups === undefined ? 'legacy' : 0,
    header: { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 1 },
    accountKeys: [...keys.map(keyAt), program],
    recentBlockhash: blockhashFromBytes(keyBytes(200)),
    instructions: [
      { programIdIndex: keys.length, accounts: Uint8Array.of(0), data: Uint8Array.of(1, 2, name) },
    ],
    addressTableLookups: (lookups ?? []).map(({ table, writable, readonly }) => ({
      accountKey: keyAt(table),
      writableIndexes: Uint8Array.from(writable),
      readonlyIndexes: Uint8Array.from(readonly),
    })),
  });
  return encodeTransaction([signatureAt(name)], message);
}

export const generateEntries = (...transactions: readonly Uint8Array[]): Uint8Array =>
  encodeEntries([{ numHashes: 5n, hash: keyBytes(99), transactions }]);

/** A batch with one entry that contains all transactions, in shreds 32 to 63 of a slot. */
export const generateBatch = (slot: number, ...transactions: readonly Uint8Array[]): EntryBatch => ({
  slot: slotOf(slot),
  entries: generateEntries(...transactions),
  firstShredIndex: 32,
  endShredIndex: 64,
  at: 1_790_000_000_123n,
});

export class MessageSink implements GeyserSink {
  readonly messages: Uint8Array[] = [];
  status: GrpcStatus | null = null;
  #wake: (() => void) | null = null;

  push(names: Uint8Array, tail: Uint8Array): void {
    this.messages.push(new Uint8Array(Buffer.concat([names, tail])));
    this.#wake?.();
  }

  end(status: GrpcStatus): void {
    this.status = status;
    this.#wake?.();
  }

  lag(): void {
    throw new Error('nothing lags here');
  }

  async received(count: number): Promise<void> {
    while (this.messages.length < count) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  /** The messages, decoded by the published codec. */
  get updates(): SubscribeUpdate[] {
    return this.messages.map((message) => SubscribeUpdate.decode(message));
  }

  get deshredUpdates(): SubscribeUpdateDeshred[] {
    return this.messages.map((message) => SubscribeUpdateDeshred.decode(message));
  }

  get batches(): ReturnType<typeof decodeEntryMessage>[] {
    return this.messages.map((message) => decodeEntryMessage(message));
  }
}
