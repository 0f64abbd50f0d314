import type { ByteReader, ByteWriter } from '../../base/bytes.ts';
import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';

/** Who wrote an account last. */
export type AccountWriter = Readonly<{
  /** Index in the slot of the transaction; null where the slot itself did. */
  transaction: number | null;
  /** Of the write among all of the slot. */
  sequence: number;
}>;

/** How a slot came about, as far as neither its transactions nor its accounts tell. */
export type SlotTrace = Readonly<{
  /** Entries whose transaction was refused when it ran: index, and what it did to the hash. */
  refused: ReadonlyMap<number, Uint8Array>;
  /** Of the same accounts, in the same order, as the record has. */
  writers: ReadonlyMap<Address, AccountWriter>;
}>;

const HASH_BYTES = 32;
/** In the place of a transaction's index. */
const THE_SLOT = 0xffff_ffff;

/**
 * Writes a trace as the log keeps it.
 *
 *     count u32 | (index u32 | mixin 32) … | for each account of the record: transaction u32 | sequence u32
 */
export function writeTrace(writer: ByteWriter, { refused, writers }: SlotTrace): void {
  writer.u32(refused.size);
  for (const [index, mixin] of refused) writer.u32(index).bytes(mixin);
  for (const { transaction, sequence } of writers.values()) {
    writer.u32(transaction ?? THE_SLOT).u32(sequence);
  }
}

/**
 * Reads what `writeTrace` wrote.
 * @param accounts - those of the record.
 * @throws OutOfBytes when the input ends early.
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
