import {
  readBlockhashText,
  readSingleField,
  readSlot,
  readWrappedUint64,
  required,
} from '../../src/protocol/geyser/fields.ts';
import { ProtobufReader } from '../../src/protocol/geyser/protobuf.ts';
import { readMeta, readReward } from '../../src/protocol/geyser/storage/meta.ts';
import { readTransaction } from '../../src/protocol/geyser/update/transaction.ts';
import type { Block, ExecutedTransaction } from '../../src/solana/block.ts';
import type { Blockhash } from '../../src/solana/blockhash.ts';
import type { Transaction } from '../../src/solana/transaction/transaction.ts';
import type { BlockReward, TransactionMeta } from '../../src/solana/transaction/transaction-meta.ts';
import { type Slot, slot as slotOf } from '../../src/solana/units.ts';

function readConfirmedTransaction(reader: ProtobufReader): ExecutedTransaction {
  let transaction: Transaction | null = null;
  let meta: TransactionMeta | null = null;
  while (reader.next()) {
    if (reader.field === 1) transaction = readTransaction(reader.message());
    else if (reader.field === 2) meta = readMeta(reader.message());
    else reader.skipField();
  }
  return {
    transaction: required(transaction, 'a transaction'),
    meta: required(meta, 'what a transaction left behind'),
  };
}

type Draft = {
  previousBlockhash: Blockhash | null;
  blockhash: Blockhash | null;
  parentSlot: Slot;
  readonly transactions: ExecutedTransaction[];
  readonly rewards: BlockReward[];
  blockTime: bigint | null;
  blockHeight: bigint | null;
  numRewardPartitions: bigint | undefined;
};

/** By field number. Source: solana-storage.proto, `ConfirmedBlock`. */
const fields: Readonly<Record<number, (draft: Draft, reader: ProtobufReader) => void>> = {
  1: (draft, reader) => {
    draft.previousBlockhash = readBlockhashText(reader);
  },
  2: (draft, reader) => {
    draft.blockhash = readBlockhashText(reader);
  },
  3: (draft, reader) => {
    draft.parentSlot = readSlot(reader);
  },
  4: (draft, reader) => draft.transactions.push(readConfirmedTransaction(reader.message())),
  5: (draft, reader) => draft.rewards.push(readReward(reader.message())),
  6: (draft, reader) => {
    draft.blockTime = readSingleField(reader.message(), (inner) => inner.int64(), 0n);
  },
  7: (draft, reader) => {
    draft.blockHeight = readWrappedUint64(reader);
  },
  8: (draft, reader) => {
    draft.numRewardPartitions = readWrappedUint64(reader);
  },
};

/** Decodes `solana.storage.ConfirmedBlock.ConfirmedBlock`, which has no slot. @throws InvalidProtobuf */
export function decodeConfirmedBlock(bytes: Uint8Array, slot: Slot): Block {
  const draft: Draft = {
    previousBlockhash: null,
    blockhash: null,
    parentSlot: slotOf(0),
    transactions: [],
    rewards: [],
    blockTime: null,
    blockHeight: null,
    numRewardPartitions: undefined,
  };
  const reader = new ProtobufReader(bytes);
  while (reader.next()) {
    const read = fields[reader.field];
    if (read === undefined) reader.skipField();
    else read(draft, reader);
  }
  return {
    slot,
    ...draft,
    blockhash: required(draft.blockhash, 'a blockhash'),
    previousBlockhash: required(draft.previousBlockhash, 'a previous blockhash'),
  };
}
