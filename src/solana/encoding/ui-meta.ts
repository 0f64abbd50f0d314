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

/** Deprecated status member. */
export function encodeStatus(err: TransactionError | null): WritableJson {
  return err === null ? { Ok: null } : { Err: err };
}

const tokenBalances =
  (amountOf: typeof uiTokenAmount) =>
  (balances: readonly TokenBalance[] | null): WritableJson =>
    balances?.map(({ accountIndex, mint, owner, programId, amount, decimals }) => ({
      accountIndex,
      mint,
      owner: owner ?? undefined,
      programId: programId ?? undefined,
      uiTokenAmount: amountOf(amount, decimals),
    })) ?? null;

export const encodeTokenBalances = tokenBalances(uiTokenAmount);

/**
 * Nodes store blocks as protobuf, which cannot tell 0 from absent, and return null for a `uiAmount` up to an f64's
 * epsilon. Source: storage-proto/src/convert.rs, `From<generated::TokenBalance>`.
 */
const encodeStoredTokenBalances = tokenBalances(storedTokenAmount);

export function encodeReturnData({ programId, data }: ReturnData): WritableJson {
  return { data: [Buffer.from(data).toString('base64'), 'base64'], programId };
}

type MetaOptions = Readonly<{ parsedWith: readonly Address[] | null; showRewards: boolean }>;

/** Unrecorded lists are null, unrecorded values are omitted. Source: `parse_ui_transaction_status_meta`. */
export function encodeMeta(meta: TransactionMeta, { parsedWith, showRewards }: MetaOptions): WritableJson {
  const { writable, readonly } = meta.loadedAddresses;
  return {
    computeUnitsConsumed: meta.computeUnitsConsumed ?? undefined,
    costUnits: meta.costUnits ?? undefined,
    err: meta.err,
    fee: meta.fee,
    innerInstructions:
      meta.innerInstructions === null ? null : encodeInnerInstructions(meta.innerInstructions, parsedWith),
    loadedAddresses: parsedWith === null ? { readonly, writable } : undefined,
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
