import type { ByteReader, ByteWriter } from '../../../../src/base/bytes.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';

/** Last writer of an account. */
export type AccountWriter = Readonly<{
  /** Transaction index in the slot; null for the slot itself. */
  transaction: number | null;
  /** Write sequence within the slot. */
  sequence: number;
}>;

/** Entry and write order of a slot, which transactions and accounts do not contain. */
export type SlotTrace = Readonly<{
  /** Rejected entries: index and mixin. */
  refused: ReadonlyMap<number, Uint8Array>;
  /** Same keys and order as the record's accounts. */
  writers: ReadonlyMap<Address, AccountWriter>;
}>;

const HASH_BYTES = 32;
/** Replaces the transaction index. */
const THE_SLOT = 0xffff_ffff;

/**
 * Log format of a trace:
 *
 * count u32 | (index u32 | mixin 32) … | for each account of the record: transaction u32 | sequence u32
 */
export function writeTrace(writer: ByteWriter, { refused, writers }: SlotTrace): void {
  writer.u32(refused.size);
  for (const [index, mixin] of refused) writer.u32(index).bytes(mixin);
  for (const { transaction, sequence } of writers.values()) {
    writer.u32(transaction ?? THE_SLOT).u32(sequence);
  }
}

/**
 * Inverse of `writeTrace`.
 * @param accounts - of the record.
 * @throws OutOfBytes when truncated.
 */
export function readTrace(reader: ByteReader, accounts: ReadonlyMap<Address, Account | null>): SlotTrace {
  const refused = new Map<number, Uint8Array>();
  for (let left = reader.u32(); left > 0; left--) {
    refused.set(reader.u32(), new Uint8Array(reader.bytes(HASH_BYTES)));
  }
  const writers = new Map<Address, AccountWriter>();
  for (const address of accounts.keys()) {
    const transaction = reader.u32();
    writers.set(address, {
      transaction: transaction === THE_SLOT ? null : transaction,
      sequence: reader.u32(),
    });
  }
  return { refused, writers };
}
