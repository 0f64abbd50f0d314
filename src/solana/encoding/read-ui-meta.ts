import type { JsonValue } from '../../base/json.ts';
import { type Address, parseAddress } from '../address.ts';
import { decodeBase58 } from '../base58.ts';
import type { LoadedAddresses } from '../message/message.ts';
import { NO_LOADED_ADDRESSES } from '../message/message-keys.ts';
import type { TransactionError } from '../transaction/transaction-error.ts';
import {
  type BlockReward,
  type InnerInstruction,
  type InnerInstructions,
  type ReturnData,
  rewardTypes,
  type TokenBalance,
  type TransactionMeta,
} from '../transaction/transaction-meta.ts';
import { lamports } from '../units.ts';
import { integerOf, listOf, MalformedJson, objectOf, orNull, stringOf, u8Of, u64Of } from './read-json.ts';

const U64_TEXT = /^\d{1,20}$/;

export function readAddress(value: JsonValue | undefined, what: string): Address {
  const parsed = parseAddress(stringOf(value, what));
  if ('fault' in parsed) throw new MalformedJson(what);
  return parsed.address;
}

function readInnerInstruction(value: JsonValue): InnerInstruction {
  const { accounts, data, programIdIndex, stackHeight } = objectOf(value, 'an inner instruction');
  const bytes = decodeBase58(stringOf(data, 'instruction data'));
  if (bytes === null) throw new MalformedJson('instruction data');
  return {
    programIdIndex: u8Of(programIdIndex, 'a programIdIndex'),
    accounts: Uint8Array.from(listOf(accounts, 'accounts'), (index) => u8Of(index, 'an account index')),
    data: bytes,
    stackHeight: orNull(stackHeight, (height) => u8Of(height, 'a stackHeight')),
  };
}

function readInnerInstructions(value: JsonValue): InnerInstructions[] {
  return listOf(value, 'innerInstructions').map((one) => {
    const { index, instructions } = objectOf(one, 'inner instructions');
    return {
      index: u8Of(index, 'an instruction index'),
      instructions: listOf(instructions, 'instructions').map(readInnerInstruction),
    };
  });
}

function readTokenBalance(value: JsonValue): TokenBalance {
  const { accountIndex, mint, owner, programId, uiTokenAmount } = objectOf(value, 'a token balance');
  const { amount, decimals } = objectOf(uiTokenAmount, 'a uiTokenAmount');
  const text = stringOf(amount, 'an amount');
  if (!U64_TEXT.test(text)) throw new MalformedJson('an amount');
  return {
    accountIndex: u8Of(accountIndex, 'an accountIndex'),
    mint: readAddress(mint, 'a mint'),
    owner: orNull(owner, (one) => readAddress(one, 'an owner')),
    programId: orNull(programId, (one) => readAddress(one, 'a programId')),
    amount: BigInt(text),
    decimals: u8Of(decimals, 'decimals'),
  };
}

const readTokenBalances = (value: JsonValue): TokenBalance[] =>
  listOf(value, 'token balances').map(readTokenBalance);

function readReward(value: JsonValue): BlockReward {
  const { commission, lamports: amount, postBalance, pubkey, rewardType } = objectOf(value, 'a reward');
  return {
    pubkey: readAddress(pubkey, 'a pubkey'),
    lamports: integerOf(amount, 'lamports'),
    postBalance: lamports(u64Of(postBalance, 'a postBalance')),
    // Unknown reward types become null.
    rewardType: rewardTypes.find((type) => type === rewardType) ?? null,
    commission: orNull(commission, (percent) => u8Of(percent, 'a commission')),
  };
}

export const readRewards = (value: JsonValue): BlockReward[] => listOf(value, 'rewards').map(readReward);

function readLoadedAddresses(value: JsonValue): LoadedAddresses {
  const { readonly, writable } = objectOf(value, 'loadedAddresses');
  const addresses = (list: JsonValue | undefined): Address[] =>
    listOf(list, 'loaded addresses').map((one) => readAddress(one, 'a loaded address'));
  return { writable: addresses(writable), readonly: addresses(readonly) };
}

function readReturnData(value: JsonValue): ReturnData {
  const { data, programId } = objectOf(value, 'returnData');
  const text = stringOf(listOf(data, 'return data')[0], 'return data');
  return { programId: readAddress(programId, 'a programId'), data: Buffer.from(text, 'base64') };
}

function readError(value: JsonValue): TransactionError {
  if (typeof value !== 'string') objectOf(value, 'an err');
  return value as TransactionError;
}

/** Inverse of `encodeMeta`. Absent members are read as not recorded. @throws MalformedJson */
export function readMeta(value: JsonValue): TransactionMeta {
  const meta = objectOf(value, 'a meta');
  const balances = (list: JsonValue | undefined) =>
    listOf(list, 'balances').map((one) => lamports(u64Of(one, 'a balance')));
  const units = (one: JsonValue): bigint => u64Of(one, 'units');
  return {
    err: orNull(meta.err, readError),
    fee: lamports(u64Of(meta.fee, 'a fee')),
    preBalances: balances(meta.preBalances),
    postBalances: balances(meta.postBalances),
    innerInstructions: orNull(meta.innerInstructions, readInnerInstructions),
    logMessages: orNull(meta.logMessages, (list) =>
      listOf(list, 'logMessages').map((line) => stringOf(line, 'a log line')),
    ),
    preTokenBalances: orNull(meta.preTokenBalances, readTokenBalances),
    postTokenBalances: orNull(meta.postTokenBalances, readTokenBalances),
    rewards: orNull(meta.rewards, readRewards),
    loadedAddresses: orNull(meta.loadedAddresses, readLoadedAddresses) ?? NO_LOADED_ADDRESSES,
    returnData: orNull(meta.returnData, readReturnData),
    computeUnitsConsumed: orNull(meta.computeUnitsConsumed, units),
    costUnits: orNull(meta.costUnits, units),
  };
}
