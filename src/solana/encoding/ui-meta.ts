import type { WritableJson } from '../../base/json.ts';
import type { Address } from '../address.ts';
import type { TransactionError } from '../transaction/transaction-error.ts';
import type {
  BlockReward,
  ReturnData,
  TokenBalance,
  TransactionMeta,
} from '../transaction/transaction-meta.ts';
import { encodeInnerInstructions } from './ui-instruction.ts';
import { storedTokenAmount, uiTokenAmount } from './ui-token-amount.ts';

export function encodeRewards(rewards: readonly BlockReward[] | null): WritableJson {
  return (
    rewards?.map(({ commission, lamports, postBalance, pubkey, rewardType }) => ({
      commission,
      lamports,
      postBalance,
      pubkey,
      rewardType,
    })) ?? null
  );
}

/** The deprecated `status` field. */
export function encodeStatus(err: TransactionError | null): WritableJson {
  return err === null ? { Ok: null } : { Err: err };
}

const tokenBalanceEncoder =
  (encodeAmount: typeof uiTokenAmount) =>
  (balances: readonly TokenBalance[] | null): WritableJson =>
    balances?.map(({ accountIndex, mint, owner, programId, amount, decimals }) => ({
      accountIndex,
      mint,
      owner: owner ?? undefined,
      programId: programId ?? undefined,
      uiTokenAmount: encodeAmount(amount, decimals),
    })) ?? null;

/** For simulations; see `encodeStoredTokenBalances` for stored transactions. */
export const encodeTokenBalances = tokenBalanceEncoder(uiTokenAmount);

/**
 * For stored transactions: protobuf cannot distinguish 0 from an absent value, so nodes return null if `uiAmount` is at
 * most `f64::EPSILON`. Source: storage-proto/src/convert.rs, `From<generated::TokenBalance>`.
 */
const encodeStoredTokenBalances = tokenBalanceEncoder(storedTokenAmount);

export function encodeReturnData({ programId, data }: ReturnData): WritableJson {
  return { data: [Buffer.from(data).toString('base64'), 'base64'], programId };
}

type MetaOptions = Readonly<{
  /** All account keys, for jsonParsed; null for other encodings. */
  parsedKeys: readonly Address[] | null;
  showRewards: boolean;
}>;

/** Unrecorded lists are null; other unrecorded values are omitted. Source: `parse_ui_transaction_status_meta`. */
export function encodeMeta(meta: TransactionMeta, { parsedKeys, showRewards }: MetaOptions): WritableJson {
  const { writable, readonly } = meta.loadedAddresses;
  return {
    computeUnitsConsumed: meta.computeUnitsConsumed ?? undefined,
    costUnits: meta.costUnits ?? undefined,
    err: meta.err,
    fee: meta.fee,
    innerInstructions:
      meta.innerInstructions === null ? null : encodeInnerInstructions(meta.innerInstructions, parsedKeys),
    loadedAddresses: parsedKeys === null ? { readonly, writable } : undefined,
    logMessages: meta.logMessages,
    postBalances: meta.postBalances,
    postTokenBalances: encodeStoredTokenBalances(meta.postTokenBalances),
    preBalances: meta.preBalances,
    preTokenBalances: encodeStoredTokenBalances(meta.preTokenBalances),
    returnData: meta.returnData === null ? undefined : encodeReturnData(meta.returnData),
    rewards: showRewards ? encodeRewards(meta.rewards) : null,
    status: encodeStatus(meta.err),
  };
}

/** For `transactionDetails: accounts`. Source: `build_simple_ui_transaction_status_meta`. */
export function encodeSimpleMeta(meta: TransactionMeta, showRewards: boolean): WritableJson {
  return {
    err: meta.err,
    fee: meta.fee,
    postBalances: meta.postBalances,
    postTokenBalances: encodeStoredTokenBalances(meta.postTokenBalances),
    preBalances: meta.preBalances,
    preTokenBalances: encodeStoredTokenBalances(meta.preTokenBalances),
    rewards: showRewards ? encodeRewards(meta.rewards) : undefined,
    status: encodeStatus(meta.err),
  };
}
