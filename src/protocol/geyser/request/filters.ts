import { type Address, type AddressFault, parseAddress } from '../../../solana/address.ts';
import { decodeBase58 } from '../../../solana/base58.ts';
import { parseSignature, type Signature, type SignatureFault } from '../../../solana/signature.ts';
import { lamports } from '../../../solana/units.ts';
import { decodeBase64 } from '../../rpc/base64-text.ts';
import { readOnlyField } from '../fields.ts';
import { ProtobufReader } from '../protobuf.ts';
import {
  type AccountsDataFilter,
  type AccountsFilter,
  type BlocksFilter,
  type CuckooFilterMessage,
  comparisons,
  type DeshredTransactionsFilter,
  type SlotsFilter,
  type TransactionsFilter,
  tokenAccountModes,
} from '../subscribe-request.ts';
import { type FilterKind, filterFacts, type RequestFaults } from './request-faults.ts';

/** Source: yellowstone-grpc, `FilterAccountsState::new`. */
const MEMCMP_MAX_BYTES = 128;
const BASE58_MAX_BYTES = 175;
const BASE64_MAX_BYTES = 172;

type Decoded = Uint8Array | Readonly<{ fault: string; text?: string }>;

function fromBase58(text: string): Decoded {
  if (Buffer.byteLength(text) > BASE58_MAX_BYTES) return { fault: 'data too large', text };
  return decodeBase58(text) ?? { fault: 'invalid base58', text };
}

function fromBase64(text: string): Decoded {
  if (Buffer.byteLength(text) > BASE64_MAX_BYTES) return { fault: 'data too large', text };
  const decoded = decodeBase64(text);
  return 'bytes' in decoded ? decoded.bytes : { fault: 'invalid base64', text };
}

function readMemcmp(reader: ProtobufReader, faults: RequestFaults): AccountsDataFilter | null {
  let offset = 0n;
  let data: Decoded = { fault: 'data for memcmp should be defined' };
  while (reader.next()) {
    if (reader.field === 1) offset = reader.uint64();
    else if (reader.field === 2) data = reader.bytes();
    else if (reader.field === 3) data = fromBase58(reader.string());
    else if (reader.field === 4) data = fromBase64(reader.string());
    else reader.skipField();
  }
  if ('fault' in data) faults.add(data.fault, 'filters.memcmp', data.text);
  else if (data.length > MEMCMP_MAX_BYTES) faults.add('data too large', 'filters.memcmp');
  else return { kind: 'memcmp', offset, bytes: data };
  return null;
}

function readLamportsFilter(reader: ProtobufReader, faults: RequestFaults): AccountsDataFilter | null {
  let filter: AccountsDataFilter | null = null;
  while (reader.next()) {
    const compare = comparisons[reader.field - 1];
    if (compare === undefined) reader.skipField();
    else filter = { kind: 'lamports', compare, value: lamports(reader.uint64()) };
  }
  if (filter === null) faults.add('cmp for lamports should be defined', 'filters.lamports');
  return filter;
}

function readTokenAccountState(reader: ProtobufReader, faults: RequestFaults): AccountsDataFilter | null {
  if (reader.bool()) return { kind: 'tokenAccountState' };
  faults.add('token_account_state only allowed to be true', 'filters.token_account_state');
  return null;
}

/** @returns null if invalid. */
function readDataFilter(reader: ProtobufReader, faults: RequestFaults): AccountsDataFilter | null {
  faults.count('filters of account data');
  let filter: AccountsDataFilter | null = null;
  let defined = false;
  while (reader.next()) {
    if (reader.field === 1) filter = readMemcmp(reader.message(), faults);
    else if (reader.field === 2) filter = { kind: 'dataSize', bytes: reader.uint64() };
    else if (reader.field === 3) filter = readTokenAccountState(reader, faults);
    else if (reader.field === 4) filter = readLamportsFilter(reader.message(), faults);
    else {
      reader.skipField();
      continue;
    }
    defined = true;
  }
  if (!defined) faults.add('filter should be defined', 'filters');
  return filter;
}

type Draft<T> = {
  -readonly [Name in keyof T]: T[Name] extends readonly (infer Item)[] | undefined ? Item[] : T[Name];
};
export type ReadFilter<Filter> = (reader: ProtobufReader, faults: RequestFaults) => Filter;

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

export function readTransactionsFilter(reader: ProtobufReader, faults: RequestFaults): TransactionsFilter {
  const draft: Draft<TransactionsFilter> = {};
  while (reader.next()) {
    if (reader.field === 1) draft.vote = reader.bool();
    else if (reader.field === 2) draft.failed = reader.bool();
    else if (reader.field === 3)
      draft.accountInclude = addAddress('account_include', draft.accountInclude, reader, faults);
    else if (reader.field === 4)
      draft.accountExclude = addAddress('account_exclude', draft.accountExclude, reader, faults);
    else if (reader.field === 5) {
      const signature = readSignatureText(reader, faults);
      if (signature !== undefined) draft.signature = signature;
    } else if (reader.field === 6)
      draft.accountRequired = addAddress('account_required', draft.accountRequired, reader, faults);
    else if (reader.field === 7) draft.cuckooAccountInclude = readCuckooFilter(reader.message());
    else if (reader.field === 30) draft.tokenAccounts = readTokenAccounts(reader, faults);
    else reader.skipField();
  }
  return draft;
}

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

export function readEmptyFilter(reader: ProtobufReader): null {
  while (reader.next()) reader.skipField();
  return null;
}

/** Source: solana-address, `ParseAddressError`. */
const addressFaults: Readonly<Record<AddressFault, string>> = {
  WrongSize: 'String is the wrong size',
  Invalid: 'Invalid Base58 string',
};
/** Source: solana-signature, `ParseSignatureError`. */
const signatureFaults: Readonly<Record<SignatureFault, string>> = {
  WrongSize: 'string decoded to wrong size for signature',
  Invalid: 'failed to decode string to signature',
};

/** @param field - name in geyser.proto. */
function addAddress(
  field: string,
  list: Address[] | undefined,
  reader: ProtobufReader,
  faults: RequestFaults,
): Address[] {
  faults.count('Pubkeys');
  const addresses = list ?? [];
  if (faults.hasFault) {
    reader.span();
    return addresses;
  }
  const text = reader.string();
  const parsed = parseAddress(text);
  if ('fault' in parsed) faults.add(addressFaults[parsed.fault], field, text);
  else addresses.push(parsed.address);
  return addresses;
}

function readSignatureText(reader: ProtobufReader, faults: RequestFaults): Signature | undefined {
  if (faults.hasFault) {
    reader.span();
    return undefined;
  }
  const text = reader.string();
  const parsed = parseSignature(text);
  if ('signature' in parsed) return parsed.signature;
  faults.add(signatureFaults[parsed.fault], 'signature', text);
  return undefined;
}

/** Parameters are validated by `CuckooFilter`. */
function readCuckooFilter(reader: ProtobufReader): CuckooFilterMessage {
  let data: Uint8Array = new Uint8Array();
  let [bucketCount, entriesPerBucket, fingerprintBits, hashAlgorithm] = [0, 0, 0, 0];
  let hashSeed = 0n;
  while (reader.next()) {
    if (reader.field === 1) data = reader.bytes();
    else if (reader.field === 2) bucketCount = reader.uint32();
    else if (reader.field === 3) entriesPerBucket = reader.uint32();
    else if (reader.field === 4) fingerprintBits = reader.uint32();
    else if (reader.field === 5) hashSeed = reader.uint64();
    else if (reader.field === 6) hashAlgorithm = reader.int32();
    else reader.skipField();
  }
  return { data, bucketCount, entriesPerBucket, fingerprintBits, hashSeed, hashAlgorithm };
}

const NOTHING: Uint8Array = new Uint8Array();

/** Key or value may be absent: Rust clients omit the value of a filter that matches everything. */
export function readNamedFilter<Filter>(
  kind: FilterKind,
  named: Map<string, Filter>,
  entry: ProtobufReader,
  read: ReadFilter<Filter>,
  faults: RequestFaults,
): void {
  faults.count('filters');
  const isFirst = !faults.hasFault;
  let name = '';
  let filter: Filter | undefined;
  while (entry.next()) {
    if (entry.field === 1) name = entry.string();
    else if (entry.field === 2) filter = read(entry.message(), faults);
    else entry.skipField();
  }
  named.set(name, filter === undefined ? read(new ProtobufReader(NOTHING), faults) : filter);
  if (isFirst && faults.hasFault) faults.locate(filterFacts(kind, name));
}

export const readPingId = (reader: ProtobufReader): number =>
  readOnlyField(reader, (inner) => inner.int32(), 0);
