import { ByteReader, ByteWriter, OutOfBytes } from '../../../../src/base/bytes.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import { type Address, addressBytes, addressFromBytes } from '../../../../src/solana/address.ts';
import { blockhashBytes, blockhashFromBytes } from '../../../../src/solana/blockhash.ts';
import type { BlockReward, RewardType } from '../../../../src/solana/transaction/transaction-meta.ts';
import { lamports } from '../../../../src/solana/units.ts';
import { readTrace, writeTrace } from '../bank/slot-trace.ts';
import type { RecordedTransaction } from '../bank/token-balances.ts';
import { readAccount, writeAccount } from './account-codec.ts';
import type { RecordedBlock, SlotHeader, SlotRecord } from './slot-record.ts';
import { CorruptRecord, readExecuted, writeExecuted } from './transaction-codec.ts';

type Rewards = Pick<SlotRecord, 'rewards' | 'numRewardPartitions'>;

/** Marks rewards with types. Older records have the count here, which is always lower. */
const TYPED_REWARDS = 0xffff_ffff;
const NONE = 0xff;
/** Indexes are stored: append only. */
const types: readonly RewardType[] = ['Fee', 'Rent', 'Staking', 'Voting', 'VATDebit', 'DeactivatedStake'];

/**
 * Reward format, last part of a block:
 *
 * nothing                                                        no rewards, no partitions
 * 0xffffffff | partitions u64, 0 for none | count u32 | rewards
 * count u32 | fees                                               before rewards had types
 * Reward: address 32, lamports i64, balance u64, type u8, commission u8 (both 255 for none). A fee ends with
 * its balance.
 */
export function writeRewards(writer: ByteWriter, { rewards, numRewardPartitions }: Rewards): void {
  if (rewards.length === 0 && numRewardPartitions === undefined) return;
  writer
    .u32(TYPED_REWARDS)
    .u64(numRewardPartitions ?? 0n)
    .u32(rewards.length);
  for (const { pubkey, lamports, postBalance, rewardType, commission } of rewards) {
    writer.bytes(addressBytes(pubkey)).i64(lamports).u64(postBalance);
    writer.u8(rewardType === null ? NONE : types.indexOf(rewardType)).u8(commission ?? NONE);
  }
}

/** Inverse of `writeRewards`, old format included. @throws OutOfBytes, CorruptRecord */
export function readRewards(reader: ByteReader): Rewards {
  if (reader.remaining === 0) return { rewards: [] };
  const count = reader.u32();
  if (count !== TYPED_REWARDS) return { rewards: readList(reader, count, readFee) };
  const partitions = reader.u64();
  const rewards = readList(reader, reader.u32(), readReward);
  return partitions === 0n ? { rewards } : { rewards, numRewardPartitions: partitions };
}

/** A wrong count ends in OutOfBytes, because every item has at least one byte. */
function readList(
  reader: ByteReader,
  count: number,
  read: (reader: ByteReader) => BlockReward,
): BlockReward[] {
  const rewards: BlockReward[] = [];
  for (let left = count; left > 0; left--) rewards.push(read(reader));
  return rewards;
}

const readFee = (reader: ByteReader): BlockReward => ({
  pubkey: addressFromBytes(reader.bytes(32)),
  lamports: reader.i64(),
  postBalance: lamports(reader.u64()),
  rewardType: 'Fee',
  commission: null,
});

function readReward(reader: ByteReader): BlockReward {
  const fee = readFee(reader);
  const [type, commission] = [reader.u8(), reader.u8()];
  const rewardType = type === NONE ? null : types[type];
  if (rewardType === undefined) throw new CorruptRecord('corrupt slot record');
  return { ...fee, rewardType, commission: commission === NONE ? null : commission };
}

/**
 * Log record of a frozen slot:
 *
 *     header | bytes of block u32 | count u32 | transactions | rewards | count u32 | accounts | trace
 *              \__________________ block _____________________/
 * Header: slot u64, blockhash 32, previous blockhash 32, block time i64, epoch start time i64, transactions
 * since genesis u64. The trace may be absent.
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

/** @throws CorruptRecord */
export function decodeRecord(bytes: Uint8Array): SlotRecord {
  return decodeWith(bytes, (reader) => {
    const header = readHeader(reader);
    const block = readBlock(reader.bytes(reader.u32()));
    const accounts = readAccounts(reader);
    const trace = reader.remaining === 0 ? null : readTrace(reader, accounts);
    return { header, ...block, accounts, trace };
  });
}

/** Skips the accounts. */
export function decodeBlock(bytes: Uint8Array): RecordedBlock {
  return decodeWith(bytes, (reader) => {
    const header = readHeader(reader);
    return { header, ...readBlock(reader.bytes(reader.u32())) };
  });
}

/** Skips the transactions. */
export function decodeChanges(bytes: Uint8Array): Pick<SlotRecord, 'header' | 'accounts'> {
  return decodeWith(bytes, (reader) => {
    const header = readHeader(reader);
    reader.skipBytes(reader.u32());
    return { header, accounts: readAccounts(reader) };
  });
}

export const decodeHeader = (bytes: Uint8Array): SlotHeader => decodeWith(bytes, readHeader);

function readTransactions(reader: ByteReader): RecordedTransaction[] {
  const transactions: RecordedTransaction[] = [];
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

function decodeWith<T>(bytes: Uint8Array, read: (reader: ByteReader) => T): T {
  try {
    return read(new ByteReader(bytes));
  } catch (cause) {
    if (cause instanceof OutOfBytes || cause instanceof SyntaxError || cause instanceof RangeError) {
      throw new CorruptRecord('corrupt slot record', { cause });
    }
    throw cause;
  }
}

/** Header format of logs and snapshots. */
export function writeHeader(writer: ByteWriter, header: SlotHeader): void {
  writer
    .u64(BigInt(header.slot))
    .bytes(blockhashBytes(header.blockhash))
    .bytes(blockhashBytes(header.previousBlockhash))
    .i64(BigInt(header.blockTime))
    .i64(BigInt(header.epochStartTime))
    .u64(header.transactionCount);
}

/** @throws OutOfBytes when truncated. */
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
