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
  readSingleField,
  required,
} from '../fields.ts';
import { InvalidProtobuf, NO_BYTES, type ProtobufReader } from '../protobuf.ts';

/** The message contains a bincode-encoded error. */
function readTransactionError(reader: ProtobufReader): TransactionError {
  const bytes = readSingleField(reader.message(), (inner) => inner.bytes(), NO_BYTES);
  const error = decodeTransactionError(bytes);
  if (error === null) throw new InvalidProtobuf('unknown transaction error');
  return error;
}

function readReturnData(reader: ProtobufReader): ReturnData {
  let programId: Address | null = null;
  let data = NO_BYTES;
  while (reader.next()) {
    if (reader.field === 1) programId = readAddress(reader);
    else if (reader.field === 2) data = reader.bytes();
    else reader.skipField();
  }
  return { programId: required(programId, 'the program of return data'), data };
}

const emptyMeta = () => ({
  err: null as TransactionError | null,
  fee: lamports(0),
  preBalances: [] as bigint[],
  postBalances: [] as bigint[],
  innerInstructions: [] as InnerInstructions[],
  innerInstructionsNone: false,
  logMessages: [] as string[],
  logMessagesNone: false,
  preTokenBalances: [] as TokenBalance[],
  postTokenBalances: [] as TokenBalance[],
  rewards: [] as BlockReward[],
  writable: [] as Address[],
  readonly: [] as Address[],
  returnData: null as ReturnData | null,
  returnDataNone: false,
  computeUnitsConsumed: null as bigint | null,
  costUnits: null as bigint | null,
});

/** Only two of the lists can be null: inner instructions and logs. Source: agave storage-proto/src/convert.rs. */
export function readMeta(reader: ProtobufReader): TransactionMeta {
  const draft = emptyMeta();
  while (reader.next()) {
    if (reader.field === 1) draft.err = readTransactionError(reader);
    else if (reader.field === 2) draft.fee = readLamports(reader);
    else if (reader.field === 3) reader.pushUint64s(draft.preBalances);
    else if (reader.field === 4) reader.pushUint64s(draft.postBalances);
    else if (reader.field === 5) draft.innerInstructions.push(readInnerInstructions(reader.message()));
    else if (reader.field === 6) draft.logMessages.push(reader.string());
    else if (reader.field === 7) draft.preTokenBalances.push(readTokenBalance(reader.message()));
    else if (reader.field === 8) draft.postTokenBalances.push(readTokenBalance(reader.message()));
    else if (reader.field === 9) draft.rewards.push(readReward(reader.message()));
    else if (reader.field === 10) draft.innerInstructionsNone = reader.bool();
    else if (reader.field === 11) draft.logMessagesNone = reader.bool();
    else if (reader.field === 12) draft.writable.push(readAddress(reader));
    else if (reader.field === 13) draft.readonly.push(readAddress(reader));
    else if (reader.field === 14) draft.returnData = readReturnData(reader.message());
    else if (reader.field === 15) draft.returnDataNone = reader.bool();
    else if (reader.field === 16) draft.computeUnitsConsumed = reader.uint64();
    else if (reader.field === 17) draft.costUnits = reader.uint64();
    else reader.skipField();
  }
  return {
    err: draft.err,
    fee: draft.fee,
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
  let [accounts, data] = [NO_BYTES, NO_BYTES];
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

function amountOf(text: string): bigint {
  if (!/^\d{1,20}$/.test(text) || BigInt(text) > U64_MAX)
    throw new InvalidProtobuf('token amount is not a u64');
  return BigInt(text);
}

/** Ignores the UI amounts, which follow from the amount and the decimals. */
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

function readTokenBalance(reader: ProtobufReader): TokenBalance {
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

/** @returns null if the text is not a u8; the empty string means no commission. */
function commissionOf(text: string): number | null {
  return /^\d{1,3}$/.test(text) && Number(text) <= 0xff ? Number(text) : null;
}

/** Reward type 0 means none. */
export function readReward(reader: ProtobufReader): BlockReward {
  let pubkey: Address | null = null;
  let amount = 0n;
  let postBalance = lamports(0);
  let rewardType: RewardType | null = null;
  let commission: number | null = null;
  while (reader.next()) {
    if (reader.field === 1) pubkey = readAddressText(reader);
    else if (reader.field === 2) amount = reader.int64();
    else if (reader.field === 3) postBalance = readLamports(reader);
    else if (reader.field === 4) rewardType = rewardTypes[reader.uint32() - 1] ?? null;
    else if (reader.field === 5) commission = commissionOf(reader.string());
    else reader.skipField();
  }
  return {
    pubkey: required(pubkey, 'the pubkey of a reward'),
    lamports: amount,
    postBalance,
    rewardType,
    commission,
  };
}
