import type { Blockhash } from '../../../solana/blockhash.ts';
import type { BlockReward } from '../../../solana/transaction/transaction-meta.ts';
import { type Slot, slot as slotOf } from '../../../solana/units.ts';
import { readBlockhashText, readSlot, readUnixTimestamp, readWrappedUint64, required } from '../fields.ts';
import type { ProtobufReader } from '../protobuf.ts';
import { readRewards } from '../storage/meta.ts';
import { type AccountWrite, readAccountWrite } from './account.ts';
import { type EntryUpdate, readEntryUpdate } from './entry.ts';
import { readTransactionInfo, type TransactionInfo } from './transaction.ts';

export type BlockHeader = Readonly<{
  slot: Slot;
  blockhash: Blockhash;
  rewards: readonly BlockReward[];
  numRewardPartitions: bigint | null;
  /** Unix seconds. */
  blockTime: bigint | null;
  blockHeight: bigint | null;
  parentSlot: Slot;
  parentBlockhash: Blockhash;
  executedTransactionCount: number;
  entriesCount: number;
}>;

/** Source: geyser.proto, `SubscribeUpdateBlockMeta`. */
export type BlockMetaUpdate = BlockHeader & Readonly<{ kind: 'blockMeta' }>;

/** Counts cover the whole block; lists contain only requested parts. Source: geyser.proto, `SubscribeUpdateBlock`. */
export type BlockUpdate = BlockHeader &
  Readonly<{
    kind: 'block';
    transactions: readonly TransactionInfo[];
    updatedAccountCount: number;
    accounts: readonly AccountWrite[];
    entries: readonly EntryUpdate[];
  }>;

const emptyHeader = () => ({
  slot: slotOf(0),
  blockhash: null as Blockhash | null,
  rewards: [] as readonly BlockReward[],
  numRewardPartitions: null as bigint | null,
  blockTime: null as bigint | null,
  blockHeight: null as bigint | null,
  parentSlot: slotOf(0),
  parentBlockhash: null as Blockhash | null,
  executedTransactionCount: 0,
  entriesCount: 0,
});
type HeaderDraft = ReturnType<typeof emptyHeader>;

const headerOf = (draft: HeaderDraft): BlockHeader => ({
  ...draft,
  blockhash: required(draft.blockhash, 'a blockhash'),
  parentBlockhash: required(draft.parentBlockhash, 'the blockhash of a parent'),
});

/** Reads fields 1 to 5, which both messages share. @returns false for any other field. */
function readCommon(draft: HeaderDraft, reader: ProtobufReader): boolean {
  if (reader.field === 1) draft.slot = readSlot(reader);
  else if (reader.field === 2) draft.blockhash = readBlockhashText(reader);
  else if (reader.field === 3) {
    const { rewards, numPartitions } = readRewards(reader.message());
    draft.rewards = rewards;
    draft.numRewardPartitions = numPartitions;
  } else if (reader.field === 4) draft.blockTime = readUnixTimestamp(reader);
  else if (reader.field === 5) draft.blockHeight = readWrappedUint64(reader);
  else return false;
  return true;
}

export function readBlockMetaUpdate(reader: ProtobufReader): BlockMetaUpdate {
  const draft = emptyHeader();
  while (reader.next()) {
    if (readCommon(draft, reader)) continue;
    if (reader.field === 6) draft.parentSlot = readSlot(reader);
    else if (reader.field === 7) draft.parentBlockhash = readBlockhashText(reader);
    else if (reader.field === 8) draft.executedTransactionCount = reader.count();
    else if (reader.field === 9) draft.entriesCount = reader.count();
    else reader.skipField();
  }
  return { kind: 'blockMeta', ...headerOf(draft) };
}

export function readBlockUpdate(reader: ProtobufReader): BlockUpdate {
  const draft = emptyHeader();
  const transactions: TransactionInfo[] = [];
  const accounts: AccountWrite[] = [];
  const entries: EntryUpdate[] = [];
  let updatedAccountCount = 0;
  while (reader.next()) {
    if (readCommon(draft, reader)) continue;
    if (reader.field === 6) transactions.push(readTransactionInfo(reader.message()));
    else if (reader.field === 7) draft.parentSlot = readSlot(reader);
    else if (reader.field === 8) draft.parentBlockhash = readBlockhashText(reader);
    else if (reader.field === 9) draft.executedTransactionCount = reader.count();
    else if (reader.field === 10) updatedAccountCount = reader.count();
    else if (reader.field === 11) accounts.push(readAccountWrite(reader.message()));
    else if (reader.field === 12) draft.entriesCount = reader.count();
    else if (reader.field === 13) entries.push(readEntryUpdate(reader.message()));
    else reader.skipField();
  }
  return { kind: 'block', ...headerOf(draft), transactions, updatedAccountCount, accounts, entries };
}
