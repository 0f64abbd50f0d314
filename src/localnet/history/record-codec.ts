import { ByteReader, ByteWriter, OutOfBytes } from '../../base/bytes.ts';
import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import { blockhashBytes, blockhashFromBytes } from '../../solana/blockhash.ts';
import type { OwnTransaction } from '../bank/execution-meta.ts';
import { readTrace, writeTrace } from '../bank/slot-trace.ts';
import { readAccount, writeAccount } from './account-codec.ts';
import { readRewards, writeRewards } from './reward-codec.ts';
import type { SlotHeader } from './slot-header.ts';
import type { RecordedBlock, SlotRecord } from './slot-record.ts';
import { CorruptRecord, readExecuted, writeExecuted } from './transaction-codec.ts';

/**
 * The bytes of a frozen slot in the log.
 *
 *     header | bytes of block u32 | count u32 | transactions | rewards | count u32 | accounts | trace
 *              \__________________ block _____________________/
 *
 * Header: slot u64, blockhash 32, previous blockhash 32, block time i64, epoch start time i64, transactions
 * since genesis u64. Rewards: as in reward-codec.ts. Trace: as in slot-trace.ts, or nothing.
 */
export function encodeRecord(record: SlotRecord): Uint8Array {
  const { header, transactions, accounts, trace } = record;
  const inner = new ByteWriter(256 + transactions.length * 1024).u32(transactions.length);
  for (const executed of transactions) writeExecuted(inner, executed);
  writeRewards(inner, record);
  const writer = new ByteWriter(512 + inner.length);
  writeHeader(writer, header);
  writer.u32(inner.length).bytes(inner.finish());
  writer.u32(accounts.size);
  for (const [address, account] of accounts) writeAccount(writer, address, account);
  if (trace !== null) writeTrace(writer, trace);
  return writer.finish();
}

/**
 * Reads what `encodeRecord` wrote.
 * @throws CorruptRecord when the bytes are something else.
 */
export function decodeRecord(bytes: Uint8Array): SlotRecord {
  return reading(bytes, (reader) => {
    const header = readHeader(reader);
    const block = readBlock(reader.bytes(reader.u32()));
    const accounts = readAccounts(reader);
    const trace = reader.remaining === 0 ? null : readTrace(reader, accounts);
    return { header, ...block, accounts, trace };
  });
}

/** The header, transactions and rewards of a record; its accounts are not read. */
export function decodeBlock(bytes: Uint8Array): RecordedBlock {
  return reading(bytes, (reader) => {
    const header = readHeader(reader);
    return { header, ...readBlock(reader.bytes(reader.u32())) };
  });
}

/** The header and accounts of a record; its transactions are not read. */
export function decodeChanges(bytes: Uint8Array): Pick<SlotRecord, 'header' | 'accounts'> {
  return reading(bytes, (reader) => {
    const header = readHeader(reader);
    reader.skipBytes(reader.u32());
    return { header, accounts: readAccounts(reader) };
  });
}

/** The header of a record; nothing else is read. */
export const decodeHeader = (bytes: Uint8Array): SlotHeader => reading(bytes, readHeader);

function readTransactions(reader: ByteReader): OwnTransaction[] {
  const transactions: OwnTransaction[] = [];
  for (let left = reader.u32(); left > 0; left--) transactions.push(readExecuted(reader));
  return transactions;
}

function readBlock(bytes: Uint8Array): Omit<RecordedBlock, 'header'> {
  const reader = new ByteReader(bytes);
  return { transactions: readTransactions(reader), ...readRewards(reader) };
}

function readAccounts(reader: ByteReader): Map<Address, Account | null> {
  const accounts = new Map<Address, Account | null>();
  for (let left = reader.u32(); left > 0; left--) {
    const [address, account] = readAccount(reader);
    accounts.set(address, account);
  }
  return accounts;
}

function reading<T>(bytes: Uint8Array, read: (reader: ByteReader) => T): T {
  try {
    return read(new ByteReader(bytes));
  } catch (cause) {
    if (cause instanceof OutOfBytes || cause instanceof SyntaxError || cause instanceof RangeError) {
      throw new CorruptRecord('a stored slot record cannot be read', { cause });
    }
    throw cause;
  }
}

/** Writes a header as logs and snapshots keep it. */
export function writeHeader(writer: ByteWriter, header: SlotHeader): void {
  writer
    .u64(BigInt(header.slot))
    .bytes(blockhashBytes(header.blockhash))
    .bytes(blockhashBytes(header.previousBlockhash))
    .i64(BigInt(header.blockTime))
    .i64(BigInt(header.epochStartTime))
    .u64(header.transactionCount);
}

/** Reads what `writeHeader` wrote. @throws OutOfBytes when the input ends early. */
export function readHeader(reader: ByteReader): SlotHeader {
  return {
    slot: Number(reader.u64()),
    blockhash: blockhashFromBytes(reader.bytes(32)),
    previousBlockhash: blockhashFromBytes(reader.bytes(32)),
    blockTime: Number(reader.i64()),
    epochStartTime: Number(reader.i64()),
    transactionCount: reader.u64(),
  };
}
