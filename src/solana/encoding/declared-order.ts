import { Float64, RawJson, type WritableJson } from '../../base/json.ts';

/**
 * Declared member order of Agave types. Notifications are serialized in this order, call results in sorted
 * order. `null`: unordered. Orders of alternative types are merged.
 */
type DeclaredOrder = { readonly [name: string]: DeclaredOrder | null };

/** Source: Agave account-decoder-client-types/src/lib.rs, `UiAccount`. */
export const accountOrder: DeclaredOrder = {
  lamports: null,
  data: { program: null, parsed: null, space: null },
  owner: null,
  executable: null,
  rentEpoch: null,
  space: null,
};

/** `UiCompiledInstruction`, `ParsedInstruction` and `UiPartiallyDecodedInstruction`. */
const instructionOrder: DeclaredOrder = {
  program: null,
  programId: null,
  programIdIndex: null,
  parsed: null,
  accounts: null,
  data: null,
  stackHeight: null,
};

const accountKeyOrder: DeclaredOrder = { pubkey: null, writable: null, signer: null, source: null };

/** `UiTransaction` with `UiRawMessage` or `UiParsedMessage`, and `UiAccountsList`. */
const transactionOrder: DeclaredOrder = {
  signatures: null,
  message: {
    header: {
      numRequiredSignatures: null,
      numReadonlySignedAccounts: null,
      numReadonlyUnsignedAccounts: null,
    },
    accountKeys: accountKeyOrder,
    recentBlockhash: null,
    instructions: instructionOrder,
    addressTableLookups: { accountKey: null, writableIndexes: null, readonlyIndexes: null },
  },
  accountKeys: accountKeyOrder,
};

const tokenBalanceOrder: DeclaredOrder = {
  accountIndex: null,
  mint: null,
  uiTokenAmount: { uiAmount: null, decimals: null, amount: null, uiAmountString: null },
  owner: null,
  programId: null,
};

const rewardOrder: DeclaredOrder = {
  pubkey: null,
  lamports: null,
  postBalance: null,
  rewardType: null,
  commission: null,
};

const metaOrder: DeclaredOrder = {
  err: null,
  status: null,
  fee: null,
  preBalances: null,
  postBalances: null,
  innerInstructions: { index: null, instructions: instructionOrder },
  logMessages: null,
  preTokenBalances: tokenBalanceOrder,
  postTokenBalances: tokenBalanceOrder,
  rewards: rewardOrder,
  loadedAddresses: { writable: null, readonly: null },
  returnData: { programId: null, data: null },
  computeUnitsConsumed: null,
  costUnits: null,
};

/** Source: Agave transaction-status-client-types/src/lib.rs, `EncodedTransactionWithStatusMeta`. */
export const transactionWithMetaOrder: DeclaredOrder = {
  transaction: transactionOrder,
  meta: metaOrder,
  version: null,
};

/** Source: the same file, `UiConfirmedBlock`. */
export const blockOrder: DeclaredOrder = {
  previousBlockhash: null,
  blockhash: null,
  parentSlot: null,
  transactions: transactionWithMetaOrder,
  signatures: null,
  rewards: rewardOrder,
  numRewardPartitions: null,
  blockTime: null,
  blockHeight: null,
};

type Members = { readonly [name: string]: WritableJson };

const isMembers = (value: WritableJson): value is Members =>
  typeof value === 'object' && value !== null && !(value instanceof Float64 || value instanceof RawJson);

/** Orders the members of a value and of its list elements; unknown members come last. */
export function inDeclaredOrder(value: WritableJson, order: DeclaredOrder): WritableJson {
  if (Array.isArray(value)) return value.map((element) => inDeclaredOrder(element, order));
  if (!isMembers(value)) return value;
  const ordered: Record<string, WritableJson> = {};
  for (const name in order) {
    const member = value[name];
    if (member === undefined) continue;
    const inside = order[name];
    ordered[name] = inside ? inDeclaredOrder(member, inside) : member;
  }
  for (const name in value) if (!(name in order)) ordered[name] = value[name];
  return ordered;
}
