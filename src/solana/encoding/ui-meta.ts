import type { WritableJson } from '../../base/json.ts';
import type { Address } from '../address.ts';
import type { TransactionError } from '../transaction/transaction-error.ts';
import type { ReturnData, TokenBalance, TransactionMeta } from '../transaction/transaction-meta.ts';
import { encodeInnerInstructions } from './ui-instruction.ts';
import { encodeRewards } from './ui-reward.ts';
import { storedTokenAmount, uiTokenAmount } from './ui-token-amount.ts';

/** A transaction's error; it is kept in the shape in which JSON-RPC shows it. */
export function encodeTransactionError(err: TransactionError): WritableJson {
  return err;
}

/** The old way to say whether a transaction succeeded, still in every answer: `{Ok:null}` or `{Err:…}`. */
export function encodeStatus(err: TransactionError | null): WritableJson {
  return err === null ? { Ok: null } : { Err: encodeTransactionError(err) };
}

const tokenBalance =
  (amountOf: typeof uiTokenAmount) =>
  ({ accountIndex, mint, owner, programId, amount, decimals }: TokenBalance): WritableJson => ({
    accountIndex,
    mint,
    owner: owner ?? undefined,
    programId: programId ?? undefined,
    uiTokenAmount: amountOf(amount, decimals),
  });

/** The tokens that a simulated transaction's accounts held, before or after it. */
export function encodeTokenBalances(balances: readonly TokenBalance[] | null): WritableJson {
  return balances?.map(tokenBalance(uiTokenAmount)) ?? null;
}

/**
 * The same of a transaction in a block. Nodes keep it in protobuf, which does not tell 0 from nothing, and
 * answer null for a `uiAmount` that is no more than an f64's epsilon.
 * Source: storage-proto/src/convert.rs, `From<generated::TokenBalance>`.
 */
export function encodeStoredTokenBalances(balances: readonly TokenBalance[] | null): WritableJson {
  return balances?.map(tokenBalance(storedTokenAmount)) ?? null;
}

/** What the last program that returned data returned. */
export function encodeReturnData({ programId, data }: ReturnData): WritableJson {
  return { data: [Buffer.from(data).toString('base64'), 'base64'], programId };
}

export type MetaOptions = Readonly<{
  /** Every key of the message, to show inner instructions parsed and leave out the loaded addresses; else null. */
  parsedWith: readonly Address[] | null;
  /** The callers of getBlock may refuse rewards; a transaction then says null instead of its own. */
  showRewards: boolean;
}>;

/**
 * What executing a transaction left behind, for `transactionDetails: full`. Lists that were not recorded are
 * null, single values are left out.
 * @see transaction-status/src/lib.rs, `parse_ui_transaction_status_meta`
 */
export function encodeMeta(meta: TransactionMeta, { parsedWith, showRewards }: MetaOptions): WritableJson {
  const { writable, readonly } = meta.loadedAddresses;
  return {
    computeUnitsConsumed: meta.computeUnitsConsumed ?? undefined,
    costUnits: meta.costUnits ?? undefined,
    err: meta.err === null ? null : encodeTransactionError(meta.err),
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

/**
 * The short form for `transactionDetails: accounts`.
 * @see transaction-status/src/lib.rs, `build_simple_ui_transaction_status_meta`
 */
export function encodeSimpleMeta(meta: TransactionMeta, showRewards: boolean): WritableJson {
  return {
    err: meta.err === null ? null : encodeTransactionError(meta.err),
    fee: meta.fee,
    postBalances: meta.postBalances,
    postTokenBalances: encodeStoredTokenBalances(meta.postTokenBalances),
    preBalances: meta.preBalances,
    preTokenBalances: encodeStoredTokenBalances(meta.preTokenBalances),
    rewards: showRewards ? encodeRewards(meta.rewards) : undefined,
    status: encodeStatus(meta.err),
  };
}
