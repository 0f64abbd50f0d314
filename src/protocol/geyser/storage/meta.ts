import type { Address } from '../../../solana/address.ts';
import {
  decodeTransactionError,
  type TransactionError,
} from '../../../solana/transaction/transaction-error.ts';
import {
  type BlockReward,
  type InnerInstruction,
  type InnerInstructions,
  type ReturnData,
  type RewardType,
  rewardTypes,
  type TokenBalance,
  type TransactionMeta,
} from '../../../solana/transaction/transaction-meta.ts';
import { lamports, U64_MAX } from '../../../solana/units.ts';
import {
  readAddress,
  readAddressText,
  readAddressTextOrNull,
  readLamports,
  readOnlyField,
  readWrappedUint64,
  required,
} from '../fields.ts';
import { InvalidProtobuf, type ProtobufReader } from '../protobuf.ts';

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

function readInnerInstruction(reader: ProtobufReader): InnerInstruction {
  let programIdIndex = 0;
  let [accounts, data] = [NONE, NONE];
  let stackHeight: number | null = null;
  while (reader.next()) {
    if (reader.field === 1) programIdIndex = reader.u8();
    else if (reader.field === 2) accounts = reader.bytes();
    else if (reader.field === 3) data = reader.bytes();
    else if (reader.field === 4) stackHeight = reader.uint32();
    else reader.skipField();
  }
  return { programIdIndex, accounts, data, stackHeight };
}

/** Reads `InnerInstructions`. */
export function readInnerInstructions(reader: ProtobufReader): InnerInstructions {
  let index = 0;
  const instructions: InnerInstruction[] = [];
  while (reader.next()) {
    if (reader.field === 1) index = reader.u8();
    else if (reader.field === 2) instructions.push(readInnerInstruction(reader.message()));
    else reader.skipField();
  }
  return { index, instructions };
}

/** An amount in base units, written as text. */
function amountOf(text: string): bigint {
  if (!/^\d{1,20}$/.test(text) || BigInt(text) > U64_MAX)
    throw new InvalidProtobuf('a token amount is no u64');
  return BigInt(text);
}

/** Reads `UiTokenAmount`. The forms for people follow from amount and decimals and are not read. */
function readAmount(reader: ProtobufReader): Pick<TokenBalance, 'amount' | 'decimals'> {
  let amount = 0n;
  let decimals = 0;
  while (reader.next()) {
    if (reader.field === 2) decimals = reader.u8();
    else if (reader.field === 3) amount = amountOf(reader.string());
    else reader.skipField();
  }
  return { amount, decimals };
}

/** Reads `TokenBalance`. */
export function readTokenBalance(reader: ProtobufReader): TokenBalance {
  let accountIndex = 0;
  let mint: Address | null = null;
  let amount: Pick<TokenBalance, 'amount' | 'decimals'> = { amount: 0n, decimals: 0 };
  let owner: Address | null = null;
  let programId: Address | null = null;
  while (reader.next()) {
    if (reader.field === 1) accountIndex = reader.u8();
    else if (reader.field === 2) mint = readAddressText(reader);
    else if (reader.field === 3) amount = readAmount(reader.message());
    else if (reader.field === 4) owner = readAddressTextOrNull(reader);
    else if (reader.field === 5) programId = readAddressTextOrNull(reader);
    else reader.skipField();
  }
  return { accountIndex, mint: required(mint, 'the mint of a token balance'), owner, programId, ...amount };
}

/** A commission is written as text, '' for none. */
function commissionOf(text: string): number | null {
  return /^\d{1,3}$/.test(text) && Number(text) <= 0xff ? Number(text) : null;
}

/** Reads `Reward`. Types have the numbers of their order, from 1 on; 0 is none. */
export function readReward(reader: ProtobufReader): BlockReward {
  let pubkey: Address | null = null;
  let paid = 0n;
  let postBalance = lamports(0);
  let rewardType: RewardType | null = null;
  let commission: number | null = null;
  while (reader.next()) {
    if (reader.field === 1) pubkey = readAddressText(reader);
    else if (reader.field === 2) paid = reader.int64();
    else if (reader.field === 3) postBalance = readLamports(reader);
    else if (reader.field === 4) rewardType = rewardTypes[reader.uint32() - 1] ?? null;
    else if (reader.field === 5) commission = commissionOf(reader.string());
    else reader.skipField();
  }
  return {
    pubkey: required(pubkey, 'who was paid'),
    lamports: paid,
    postBalance,
    rewardType,
    commission,
  };
}

export type Rewards = Readonly<{ rewards: readonly BlockReward[]; numPartitions: bigint | null }>;

/** Reads `Rewards`. */
export function readRewards(reader: ProtobufReader): Rewards {
  const rewards: BlockReward[] = [];
  let numPartitions: bigint | null = null;
  while (reader.next()) {
    if (reader.field === 1) rewards.push(readReward(reader.message()));
    else if (reader.field === 2) numPartitions = readWrappedUint64(reader);
    else reader.skipField();
  }
  return { rewards, numPartitions };
}
