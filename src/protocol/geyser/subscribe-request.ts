import { ProtobufWriter } from './protobuf-writer.ts';
import {
  addresses,
  commitmentLevel,
  cuckooFilter,
  dataFilters,
  dataSlices,
  flag,
  pingId,
  signature,
  slotNumber,
  tokenAccounts,
} from './request/filters.ts';
import { filterNames, type MessageOf, messageCodec, namedFilters } from './request/message-codec.ts';

/** Stream requests. Each request replaces the previous one. Field numbers are those of geyser.proto. */

/** Empty or absent members match everything. */
const accountsFilter = messageCodec({
  account: [2, addresses('account')],
  owner: [3, addresses('owner')],
  filters: [4, dataFilters],
  nonemptyTxnSignature: [5, flag],
  /** Alternative to `account`: an account matches if its address is in either. */
  cuckooAccounts: [6, cuckooFilter],
});
export type AccountsFilter = MessageOf<typeof accountsFilter>;
export type AccountsDataFilter = NonNullable<AccountsFilter['filters']>[number];
export type LamportsComparison = Extract<AccountsDataFilter, { kind: 'lamports' }>['compare'];
export type CuckooFilterMessage = NonNullable<AccountsFilter['cuckooAccounts']>;

/** Empty or absent members match everything. */
const transactionsFilter = messageCodec({
  vote: [1, flag],
  failed: [2, flag],
  accountInclude: [3, addresses('account_include')],
  accountExclude: [4, addresses('account_exclude')],
  signature: [5, signature],
  accountRequired: [6, addresses('account_required')],
  cuckooAccountInclude: [7, cuckooFilter],
  /** Also match token account owners: all owners, or only those of accounts whose balance changed. */
  tokenAccounts: [30, tokenAccounts],
});
export type TransactionsFilter = MessageOf<typeof transactionsFilter>;

const slotsFilter = messageCodec({
  /** Report only the status that equals the request's commitment. */
  filterByCommitment: [1, flag],
  /** Also report the statuses first shred received, completed, created bank and dead. */
  interslotUpdates: [2, flag],
});
export type SlotsFilter = MessageOf<typeof slotsFilter>;

const blocksFilter = messageCodec({
  accountInclude: [1, addresses('account_include')],
  includeTransactions: [2, flag],
  includeAccounts: [3, flag],
  includeEntries: [4, flag],
  cuckooAccountInclude: [5, cuckooFilter],
});
export type BlocksFilter = MessageOf<typeof blocksFilter>;

export const subscribeRequest = messageCodec({
  accounts: [1, namedFilters('accounts', accountsFilter)],
  slots: [2, namedFilters('slots', slotsFilter)],
  transactions: [3, namedFilters('transactions', transactionsFilter)],
  blocks: [4, namedFilters('blocks', blocksFilter)],
  blocksMeta: [5, filterNames('blocks_meta')],
  commitment: [6, commitmentLevel],
  accountsDataSlice: [7, dataSlices],
  entry: [8, filterNames('entry')],
  ping: [9, pingId],
  transactionsStatus: [10, namedFilters('transactions_status', transactionsFilter)],
  /** Replay from this slot, if still available. */
  fromSlot: [11, slotNumber],
});
export type SubscribeRequest = MessageOf<typeof subscribeRequest>;
export type DataSlice = NonNullable<SubscribeRequest['accountsDataSlice']>[number];
export type NamedFilters<Filter> = ReadonlyMap<string, Filter>;

const deshredTransactionsFilter = messageCodec({
  vote: [1, flag],
  accountInclude: [2, addresses('account_include')],
  accountExclude: [3, addresses('account_exclude')],
  accountRequired: [4, addresses('account_required')],
});

export const subscribeDeshredRequest = messageCodec({
  deshredTransactions: [1, namedFilters('deshred_transactions', deshredTransactionsFilter)],
  ping: [2, pingId],
  slots: [3, namedFilters('slots', slotsFilter)],
});
export type SubscribeDeshredRequest = MessageOf<typeof subscribeDeshredRequest>;

export function encodeSubscribeRequest(request: SubscribeRequest): Uint8Array {
  const writer = new ProtobufWriter();
  subscribeRequest.write(writer, request);
  return writer.finish();
}

export function encodeSubscribeDeshredRequest(request: SubscribeDeshredRequest): Uint8Array {
  const writer = new ProtobufWriter();
  subscribeDeshredRequest.write(writer, request);
  return writer.finish();
}
