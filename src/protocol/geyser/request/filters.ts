import type { ProtobufReader } from '../protobuf.ts';
import type { DeshredTransactionsFilter } from '../subscribe-deshred-request.ts';
import {
  type AccountsFilter,
  type BlocksFilter,
  type SlotsFilter,
  type TransactionsFilter,
  tokenAccountModes,
} from '../subscribe-request.ts';
import { readDataFilter } from './data-filter.ts';
import { addAddress, readCuckooFilter, readSignatureText } from './filter-fields.ts';
import type { RequestFaults } from './request-faults.ts';

type Draft<T> = {
  -readonly [Name in keyof T]: T[Name] extends readonly (infer Item)[] | undefined ? Item[] : T[Name];
};
/** Reads a filter. What is absent stays absent; faults of its content are added to `faults`. */
export type ReadFilter<Filter> = (reader: ProtobufReader, faults: RequestFaults) => Filter;

/** Reads `SubscribeRequestFilterAccounts`. */
export function readAccountsFilter(reader: ProtobufReader, faults: RequestFaults): AccountsFilter {
  const draft: Draft<AccountsFilter> = {};
  while (reader.next()) {
    if (reader.field === 2) draft.account = addAddress('account', draft.account, reader, faults);
    else if (reader.field === 3) draft.owner = addAddress('owner', draft.owner, reader, faults);
    else if (reader.field === 4) {
      const filter = readDataFilter(reader.message(), faults);
      draft.filters ??= [];
      if (filter !== null) draft.filters.push(filter);
    } else if (reader.field === 5) draft.nonemptyTxnSignature = reader.bool();
    else if (reader.field === 6) draft.cuckooAccounts = readCuckooFilter(reader.message());
    else reader.skipField();
  }
  return draft;
}

/** Reads `SubscribeRequestFilterSlots`. */
export function readSlotsFilter(reader: ProtobufReader): SlotsFilter {
  const draft: Draft<SlotsFilter> = {};
  while (reader.next()) {
    if (reader.field === 1) draft.filterByCommitment = reader.bool();
    else if (reader.field === 2) draft.interslotUpdates = reader.bool();
    else reader.skipField();
  }
  return draft;
}

function readTokenAccounts(reader: ProtobufReader, faults: RequestFaults): 'all' | 'balanceChanged' {
  const value = reader.int32();
  const mode = tokenAccountModes[value];
  if (mode === undefined) {
    const text = `invalid token_accounts mode value ${value}; expected ALL (0) or BALANCE_CHANGED (1)`;
    faults.add(text, 'token_accounts', value);
  }
  return mode ?? 'all';
}

function readSignature(
  draft: Draft<TransactionsFilter>,
  reader: ProtobufReader,
  faults: RequestFaults,
): void {
  const signature = readSignatureText(reader, faults);
  if (signature !== undefined) draft.signature = signature;
}

/** Reads `SubscribeRequestFilterTransactions`. */
export function readTransactionsFilter(reader: ProtobufReader, faults: RequestFaults): TransactionsFilter {
  const draft: Draft<TransactionsFilter> = {};
  while (reader.next()) {
    if (reader.field === 1) draft.vote = reader.bool();
    else if (reader.field === 2) draft.failed = reader.bool();
    else if (reader.field === 3)
      draft.accountInclude = addAddress('account_include', draft.accountInclude, reader, faults);
    else if (reader.field === 4)
      draft.accountExclude = addAddress('account_exclude', draft.accountExclude, reader, faults);
    else if (reader.field === 5) readSignature(draft, reader, faults);
    else if (reader.field === 6)
      draft.accountRequired = addAddress('account_required', draft.accountRequired, reader, faults);
    else if (reader.field === 7) draft.cuckooAccountInclude = readCuckooFilter(reader.message());
    else if (reader.field === 30) draft.tokenAccounts = readTokenAccounts(reader, faults);
    else reader.skipField();
  }
  return draft;
}

/** Reads `SubscribeRequestFilterBlocks`. */
export function readBlocksFilter(reader: ProtobufReader, faults: RequestFaults): BlocksFilter {
  const draft: Draft<BlocksFilter> = {};
  while (reader.next()) {
    if (reader.field === 1)
      draft.accountInclude = addAddress('account_include', draft.accountInclude, reader, faults);
    else if (reader.field === 2) draft.includeTransactions = reader.bool();
    else if (reader.field === 3) draft.includeAccounts = reader.bool();
    else if (reader.field === 4) draft.includeEntries = reader.bool();
    else if (reader.field === 5) draft.cuckooAccountInclude = readCuckooFilter(reader.message());
    else reader.skipField();
  }
  return draft;
}

/** Reads `SubscribeRequestFilterDeshredTransactions`. */
export function readDeshredTransactionsFilter(
  reader: ProtobufReader,
  faults: RequestFaults,
): DeshredTransactionsFilter {
  const draft: Draft<DeshredTransactionsFilter> = {};
  while (reader.next()) {
    if (reader.field === 1) draft.vote = reader.bool();
    else if (reader.field === 2)
      draft.accountInclude = addAddress('account_include', draft.accountInclude, reader, faults);
    else if (reader.field === 3)
      draft.accountExclude = addAddress('account_exclude', draft.accountExclude, reader, faults);
    else if (reader.field === 4)
      draft.accountRequired = addAddress('account_required', draft.accountRequired, reader, faults);
    else reader.skipField();
  }
  return draft;
}

/** Reads a message of which no field is known. */
export function readEmptyFilter(reader: ProtobufReader): null {
  while (reader.next()) reader.skipField();
  return null;
}
