import type {
  AccountsDataFilter,
  CuckooFilterMessage,
  SubscribeDeshredRequest,
  SubscribeRequest,
  TransactionsFilter,
} from '../../src/protocol/geyser/subscribe-request.ts';

/** Requests in the shape of the published codec, without what is newer than it. */

const values = <T, R>(map: ReadonlyMap<string, T> | undefined, show: (value: T) => R) =>
  Object.fromEntries([...(map ?? [])].map(([at, value]) => [at, show(value)]));

const oracleDataFilter = (filter: AccountsDataFilter) => ({
  memcmp:
    filter.kind === 'memcmp'
      ? { offset: String(filter.offset), bytes: filter.bytes, base58: undefined, base64: undefined }
      : undefined,
  datasize: filter.kind === 'dataSize' ? String(filter.bytes) : undefined,
  tokenAccountState: filter.kind === 'tokenAccountState' ? true : undefined,
  lamports: filter.kind === 'lamports' ? { [filter.compare]: String(filter.value) } : undefined,
});

const oracleCuckooFilter = (filter: CuckooFilterMessage | undefined) =>
  filter && { ...filter, hashSeed: String(filter.hashSeed) };

const oracleTransactionsFilter = (filter: TransactionsFilter) => ({
  vote: filter.vote,
  failed: filter.failed,
  signature: filter.signature,
  accountInclude: filter.accountInclude ?? [],
  accountExclude: filter.accountExclude ?? [],
  accountRequired: filter.accountRequired ?? [],
});

/** What the published codec should make of a request. */
export const oracleRequest = (request: SubscribeRequest) => ({
  accounts: values(request.accounts, ({ account, owner, filters, nonemptyTxnSignature, cuckooAccounts }) => ({
    account: account ?? [],
    owner: owner ?? [],
    filters: (filters ?? []).map(oracleDataFilter),
    nonemptyTxnSignature,
    cuckooAccountsFilter: oracleCuckooFilter(cuckooAccounts),
  })),
  slots: values(request.slots, (filter) => filter),
  transactions: values(request.transactions, oracleTransactionsFilter),
  transactionsStatus: values(request.transactionsStatus, oracleTransactionsFilter),
  blocks: values(request.blocks, ({ cuckooAccountInclude: _newer, ...filter }) => ({
    ...filter,
    accountInclude: filter.accountInclude ?? [],
  })),
  blocksMeta: Object.fromEntries((request.blocksMeta ?? []).map((each) => [each, {}])),
  entry: Object.fromEntries((request.entry ?? []).map((each) => [each, {}])),
  commitment:
    request.commitment === undefined
      ? undefined
      : ['processed', 'confirmed', 'finalized'].indexOf(request.commitment),
  accountsDataSlice: (request.accountsDataSlice ?? []).map(({ offset, length }) => ({
    offset: String(offset),
    length: String(length),
  })),
  fromSlot: request.fromSlot === undefined ? undefined : String(request.fromSlot),
  ping: request.ping === undefined ? undefined : { id: request.ping },
});

/** The same of the shred stage. */
export const oracleDeshredRequest = (request: SubscribeDeshredRequest) => ({
  deshredTransactions: values(request.deshredTransactions, (filter) => ({
    vote: filter.vote,
    accountInclude: filter.accountInclude ?? [],
    accountExclude: filter.accountExclude ?? [],
    accountRequired: filter.accountRequired ?? [],
  })),
  slots: values(request.slots, (filter) => filter),
  ping: request.ping === undefined ? undefined : { id: request.ping },
});
