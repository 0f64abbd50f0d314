import type { ByteReader, ByteWriter } from '../../../../src/base/bytes.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';

/** Last write of an account in a slot. */
export type AccountWriter = Readonly<{
  /** Index of the transaction in the slot; null for writes outside of transactions. */
  transaction: number | null;
  /** Write sequence within the slot. */
  sequence: number;
}>;

/** Order of entries and writes in a slot, which its transactions and accounts do not contain. */
export type SlotTrace = Readonly<{
  /** Mixins of rejected entries by index. */
  rejected: ReadonlyMap<number, Uint8Array>;
  /** Same keys and order as the record's accounts. */
  writers: ReadonlyMap<Address, AccountWriter>;
}>;

const HASH_BYTES = 32;
/** Encodes a null transaction index. */
const NO_TRANSACTION = 0xffff_ffff;

/**
 * Log format of a trace:
 *
 * count u32 | (index u32 | mixin 32) … | for each account of the record: transaction u32 | sequence u32
 */
export function writeTrace(writer: ByteWriter, { rejected, writers }: SlotTrace): void {
  writer.u32(rejected.size);
  for (const [index, mixin] of rejected) writer.u32(index).bytes(mixin);
  for (const { transaction, sequence } of writers.values()) {
    writer.u32(transaction ?? NO_TRANSACTION).u32(sequence);
  }
}

/**
 * Inverse of `writeTrace`.
 * @param accounts - accounts of the record.
 * @throws OutOfBytes if truncated.
 */
export function readTrace(reader: ByteReader, accounts: ReadonlyMap<Address, Account | null>): SlotTrace {
  const rejected = new Map<number, Uint8Array>();
  for (let left = reader.u32(); left > 0; left--) {
    rejected.set(reader.u32(), new Uint8Array(reader.bytes(HASH_BYTES)));
  }
  const writers = new Map<Address, AccountWriter>();
  for (const address of accounts.keys()) {
    const transaction = reader.u32();
    writers.set(address, {
      transaction: transaction === NO_TRANSACTION ? null : transaction,
      sequence: reader.u32(),
    });
  }
  return { rejected, writers };
}
