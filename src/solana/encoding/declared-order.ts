import type { WritableJson } from '../../base/json.ts';
import { isMembers } from '../parsed/wire-order.ts';

/** Member order of Agave's structs, which notifications use. null: order unchanged. Enum variants share one order. */
type DeclaredOrder = { readonly [name: string]: DeclaredOrder | null };

const orderOf = (names: string, inside: DeclaredOrder = {}): DeclaredOrder =>
  Object.fromEntries(names.split(' ').map((name) => [name, inside[name] ?? null]));

/** Source: Agave account-decoder-client-types/src/lib.rs, `UiAccount`. */
export const accountOrder = orderOf('lamports data owner executable rentEpoch space', {
  data: orderOf('program parsed space'),
});

/** Merged from `UiCompiledInstruction`, `ParsedInstruction` and `UiPartiallyDecodedInstruction`. */
const instructions = orderOf('program programId programIdIndex parsed accounts data stackHeight');

const accountKeys = orderOf('pubkey writable signer source');

/** Merged from `UiTransaction`, with its `UiRawMessage` or `UiParsedMessage`, and `UiAccountsList`. */
const transaction = orderOf('signatures message accountKeys', {
  message: orderOf('header accountKeys recentBlockhash instructions addressTableLookups transactionConfig', {
    header: orderOf('numRequiredSignatures numReadonlySignedAccounts numReadonlyUnsignedAccounts'),
    accountKeys,
    instructions,
    addressTableLookups: orderOf('accountKey writableIndexes readonlyIndexes'),
    transactionConfig: orderOf('priorityFee computeUnitLimit loadedAccountsDataSizeLimit heapSize'),
  }),
  accountKeys,
});

const tokenBalances = orderOf('accountIndex mint uiTokenAmount owner programId', {
  uiTokenAmount: orderOf('uiAmount decimals amount uiAmountString'),
});

const rewards = orderOf('pubkey lamports postBalance rewardType commission');

const meta = orderOf(
  'err status fee preBalances postBalances innerInstructions logMessages preTokenBalances postTokenBalances ' +
    'rewards loadedAddresses returnData computeUnitsConsumed costUnits',
  {
    innerInstructions: orderOf('index instructions', { instructions }),
    preTokenBalances: tokenBalances,
    postTokenBalances: tokenBalances,
    rewards,
    loadedAddresses: orderOf('writable readonly'),
    returnData: orderOf('programId data'),
  },
);

/** Source: Agave transaction-status-client-types/src/lib.rs, `EncodedTransactionWithStatusMeta`. */
export const transactionWithMetaOrder = orderOf('transaction meta version', { transaction, meta });

/** Source: Agave transaction-status-client-types/src/lib.rs, `UiConfirmedBlock`. */
export const blockOrder = orderOf(
  'previousBlockhash blockhash parentSlot transactions signatures rewards numRewardPartitions blockTime blockHeight',
  { transactions: transactionWithMetaOrder, rewards },
);

/** Unknown members come last. */
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
