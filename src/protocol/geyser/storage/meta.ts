import type { Address } from '../../../solana/address.ts';
import {
  decodeTransactionError,
  type TransactionError,
} from '../../../solana/transaction/transaction-error.ts';
import type {
  BlockReward,
  InnerInstructions,
  ReturnData,
  TokenBalance,
  TransactionMeta,
} from '../../../solana/transaction/transaction-meta.ts';
import { lamports } from '../../../solana/units.ts';
import { readAddress, readLamports, readOnlyField, required } from '../fields.ts';
import { InvalidProtobuf, type ProtobufReader } from '../protobuf.ts';
import { readInnerInstructions } from './inner-instructions.ts';
import { readReward } from './reward.ts';
import { readTokenBalance } from './token-balance.ts';

const NONE: Uint8Array = new Uint8Array();

/**
 * Reads `TransactionError`, whose only field is bincode.
 * @throws InvalidProtobuf also for an error that is not known.
 */
export function readTransactionError(reader: ProtobufReader): TransactionError {
  const bytes = readOnlyField(reader.message(), (inner) => inner.bytes(), NONE);
  const error = decodeTransactionError(bytes);
  if (error === null) throw new InvalidProtobuf('a transaction error is not known');
  return error;
}

function readReturnData(reader: ProtobufReader): ReturnData {
  let programId: Address | null = null;
  let data = NONE;
  while (reader.next()) {
    if (reader.field === 1) programId = readAddress(reader);
    else if (reader.field === 2) data = reader.bytes();
    else reader.skipField();
  }
  return { programId: required(programId, 'the program of return data'), data };
}

type Draft = {
  err: TransactionError | null;
  fee: bigint;
  readonly preBalances: bigint[];
  readonly postBalances: bigint[];
  readonly innerInstructions: InnerInstructions[];
  innerInstructionsNone: boolean;
  readonly logMessages: string[];
  logMessagesNone: boolean;
  readonly preTokenBalances: TokenBalance[];
  readonly postTokenBalances: TokenBalance[];
  readonly rewards: BlockReward[];
  readonly writable: Address[];
  readonly readonly: Address[];
  returnData: ReturnData | null;
  returnDataNone: boolean;
  computeUnitsConsumed: bigint | null;
  costUnits: bigint | null;
};

/** What a message is read into, by field number. Source: solana-storage.proto, `TransactionStatusMeta`. */
const fields: Readonly<Record<number, (draft: Draft, reader: ProtobufReader) => void>> = {
  1: (draft, reader) => {
    draft.err = readTransactionError(reader);
  },
  2: (draft, reader) => {
    draft.fee = readLamports(reader);
  },
  3: (draft, reader) => reader.pushUint64s(draft.preBalances),
  4: (draft, reader) => reader.pushUint64s(draft.postBalances),
  5: (draft, reader) => draft.innerInstructions.push(readInnerInstructions(reader.message())),
  6: (draft, reader) => draft.logMessages.push(reader.string()),
  7: (draft, reader) => draft.preTokenBalances.push(readTokenBalance(reader.message())),
  8: (draft, reader) => draft.postTokenBalances.push(readTokenBalance(reader.message())),
  9: (draft, reader) => draft.rewards.push(readReward(reader.message())),
  10: (draft, reader) => {
    draft.innerInstructionsNone = reader.bool();
  },
  11: (draft, reader) => {
    draft.logMessagesNone = reader.bool();
  },
  12: (draft, reader) => draft.writable.push(readAddress(reader)),
  13: (draft, reader) => draft.readonly.push(readAddress(reader)),
  14: (draft, reader) => {
    draft.returnData = readReturnData(reader.message());
  },
  15: (draft, reader) => {
    draft.returnDataNone = reader.bool();
  },
  16: (draft, reader) => {
    draft.computeUnitsConsumed = reader.uint64();
  },
  17: (draft, reader) => {
    draft.costUnits = reader.uint64();
  },
};

const empty = (): Draft => ({
  err: null,
  fee: 0n,
  preBalances: [],
  postBalances: [],
  innerInstructions: [],
  innerInstructionsNone: false,
  logMessages: [],
  logMessagesNone: false,
  preTokenBalances: [],
  postTokenBalances: [],
  rewards: [],
  writable: [],
  readonly: [],
  returnData: null,
  returnDataNone: false,
  computeUnitsConsumed: null,
  costUnits: null,
});

/**
 * Reads `TransactionStatusMeta`. Of the lists, only inner instructions and logs tell nothing from none.
 * Source: agave storage-proto/src/convert.rs.
 */
export function readMeta(reader: ProtobufReader): TransactionMeta {
  const draft = empty();
  while (reader.next()) {
    const read = fields[reader.field];
    if (read === undefined) reader.skipField();
    else read(draft, reader);
  }
  return {
    err: draft.err,
    fee: lamports(draft.fee),
    preBalances: draft.preBalances.map(lamports),
    postBalances: draft.postBalances.map(lamports),
    innerInstructions: draft.innerInstructionsNone ? null : draft.innerInstructions,
    logMessages: draft.logMessagesNone ? null : draft.logMessages,
    preTokenBalances: draft.preTokenBalances,
    postTokenBalances: draft.postTokenBalances,
    rewards: draft.rewards,
    loadedAddresses: { writable: draft.writable, readonly: draft.readonly },
    returnData: draft.returnDataNone ? null : draft.returnData,
    computeUnitsConsumed: draft.computeUnitsConsumed,
    costUnits: draft.costUnits,
  };
}
