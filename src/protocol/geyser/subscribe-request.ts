import type { Address } from '../../solana/address.ts';
import type { Signature } from '../../solana/signature.ts';
import type { Lamports, Slot } from '../../solana/units.ts';
import { type Commitment, commitments } from '../commitment.ts';
import { ProtobufWriter } from './protobuf-writer.ts';

/** Conditions on account data; all must match. Source: geyser.proto, `SubscribeRequestFilterAccountsFilter`. */
export type AccountsDataFilter = Readonly<
  | { kind: 'memcmp'; offset: bigint; bytes: Uint8Array }
  | { kind: 'dataSize'; bytes: bigint }
  | { kind: 'tokenAccountState' }
  | { kind: 'lamports'; compare: LamportsComparison; value: Lamports }
>;

export type LamportsComparison = 'eq' | 'ne' | 'lt' | 'gt';

/** Source: geyser.proto, `CuckooFilter`. */
export type CuckooFilterMessage = Readonly<{
  data: Uint8Array;
  bucketCount: number;
  entriesPerBucket: number;
  fingerprintBits: number;
  hashSeed: bigint;
  hashAlgorithm: number;
}>;

/** Requested part of account data. Source: geyser.proto, `SubscribeRequestAccountsDataSlice`. */
export type DataSlice = Readonly<{ offset: bigint; length: bigint }>;

/** Empty or absent members match everything. */
export type AccountsFilter = Readonly<{
  account?: readonly Address[];
  owner?: readonly Address[];
  filters?: readonly AccountsDataFilter[];
  nonemptyTxnSignature?: boolean;
  /** Alternative to `account`: an address may be in either. */
  cuckooAccounts?: CuckooFilterMessage;
}>;

/** Empty or absent members match everything. */
export type TransactionsFilter = Readonly<{
  vote?: boolean;
  failed?: boolean;
  signature?: Signature;
  accountInclude?: readonly Address[];
  accountExclude?: readonly Address[];
  accountRequired?: readonly Address[];
  /** Owners of token accounts also match: of all, or of those with a changed balance. */
  tokenAccounts?: 'all' | 'balanceChanged';
  cuckooAccountInclude?: CuckooFilterMessage;
}>;

export type SlotsFilter = Readonly<{
  /** Report only the status that equals the request's commitment. */
  filterByCommitment?: boolean;
  /** Also report first shred, completed, bank created and dead. */
  interslotUpdates?: boolean;
}>;

export type BlocksFilter = Readonly<{
  accountInclude?: readonly Address[];
  includeTransactions?: boolean;
  includeAccounts?: boolean;
  includeEntries?: boolean;
  cuckooAccountInclude?: CuckooFilterMessage;
}>;

export type NamedFilters<Filter> = ReadonlyMap<string, Filter>;

/** Source: geyser.proto, `SubscribeRequest`. */
export type SubscribeRequest = Readonly<{
  accounts?: NamedFilters<AccountsFilter>;
  slots?: NamedFilters<SlotsFilter>;
  transactions?: NamedFilters<TransactionsFilter>;
  transactionsStatus?: NamedFilters<TransactionsFilter>;
  blocks?: NamedFilters<BlocksFilter>;
  blocksMeta?: readonly string[];
  entry?: readonly string[];
  commitment?: Commitment;
  accountsDataSlice?: readonly DataSlice[];
  /** Replay from this slot, if still available. */
  fromSlot?: Slot;
  ping?: number;
}>;

/** In order of field number. */
export const comparisons: readonly LamportsComparison[] = ['eq', 'ne', 'lt', 'gt'];
/** By number. Source: geyser.proto, `TokenAccountExpansionControlFlag`. */
export const tokenAccountModes = ['all', 'balanceChanged'] as const;

type WriteFilter<Filter> = (writer: ProtobufWriter, filter: Filter) => void;

function strings(writer: ProtobufWriter, field: number, values: readonly string[] | undefined): void {
  for (const value of values ?? []) writer.string(field, value);
}

function flag(writer: ProtobufWriter, field: number, value: boolean | undefined): void {
  if (value !== undefined) writer.bool(field, value);
}

function cuckooFilter(writer: ProtobufWriter, field: number, filter: CuckooFilterMessage | undefined): void {
  if (filter === undefined) return;
  const start = writer.open(field, filter.data.length);
  writer.nonemptyBytes(1, filter.data);
  writer.nonzeroUint32(2, filter.bucketCount);
  writer.nonzeroUint32(3, filter.entriesPerBucket);
  writer.nonzeroUint32(4, filter.fingerprintBits);
  writer.nonzeroUint64(5, filter.hashSeed);
  if (filter.hashAlgorithm !== 0) writer.int32(6, filter.hashAlgorithm);
  writer.close(start);
}

function memcmp(writer: ProtobufWriter, offset: bigint, bytes: Uint8Array): void {
  const start = writer.open(1);
  writer.nonzeroUint64(1, offset).bytes(2, bytes);
  writer.close(start);
}

function lamportsFilter(writer: ProtobufWriter, compare: LamportsComparison, value: Lamports): void {
  const start = writer.open(4);
  writer.uint64(comparisons.indexOf(compare) + 1, value);
  writer.close(start);
}

function accountsFilter(writer: ProtobufWriter, filter: AccountsFilter): void {
  strings(writer, 2, filter.account);
  strings(writer, 3, filter.owner);
  for (const each of filter.filters ?? []) {
    const start = writer.open(4);
    if (each.kind === 'memcmp') memcmp(writer, each.offset, each.bytes);
    else if (each.kind === 'dataSize') writer.uint64(2, each.bytes);
    else if (each.kind === 'tokenAccountState') writer.bool(3, true);
    else lamportsFilter(writer, each.compare, each.value);
    writer.close(start);
  }
  flag(writer, 5, filter.nonemptyTxnSignature);
  cuckooFilter(writer, 6, filter.cuckooAccounts);
}

function slotsFilter(writer: ProtobufWriter, filter: SlotsFilter): void {
  flag(writer, 1, filter.filterByCommitment);
  flag(writer, 2, filter.interslotUpdates);
}

function transactionsFilter(writer: ProtobufWriter, filter: TransactionsFilter): void {
  flag(writer, 1, filter.vote);
  flag(writer, 2, filter.failed);
  strings(writer, 3, filter.accountInclude);
  strings(writer, 4, filter.accountExclude);
  if (filter.signature !== undefined) writer.string(5, filter.signature);
  strings(writer, 6, filter.accountRequired);
  cuckooFilter(writer, 7, filter.cuckooAccountInclude);
  if (filter.tokenAccounts !== undefined) writer.uint32(30, tokenAccountModes.indexOf(filter.tokenAccounts));
}

function blocksFilter(writer: ProtobufWriter, filter: BlocksFilter): void {
  strings(writer, 1, filter.accountInclude);
  flag(writer, 2, filter.includeTransactions);
  flag(writer, 3, filter.includeAccounts);
  flag(writer, 4, filter.includeEntries);
  cuckooFilter(writer, 5, filter.cuckooAccountInclude);
}

function dataSlice(writer: ProtobufWriter, { offset, length }: DataSlice): void {
  const start = writer.open(7);
  writer.nonzeroUint64(1, offset).nonzeroUint64(2, length);
  writer.close(start);
}

/** Writes a map. Entries always have a value: some readers drop entries without one. */
function writeNamedFilters<Filter>(
  writer: ProtobufWriter,
  field: number,
  named: Iterable<readonly [string, Filter]> | undefined,
  write: WriteFilter<Filter>,
): void {
  for (const [name, filter] of named ?? []) {
    const entry = writer.open(field);
    writer.string(1, name);
    const value = writer.open(2);
    write(writer, filter);
    writer.close(value);
    writer.close(entry);
  }
}

function names(writer: ProtobufWriter, field: number, given: readonly string[] | undefined): void {
  writeNamedFilters(
    writer,
    field,
    given?.map((name) => [name, null] as const),
    () => {},
  );
}

function ping(writer: ProtobufWriter, field: number, id: number | undefined): void {
  if (id === undefined) return;
  const start = writer.open(field);
  writer.int32(1, id);
  writer.close(start);
}

export function encodeSubscribeRequest(request: SubscribeRequest): Uint8Array {
  const writer = new ProtobufWriter();
  writeNamedFilters(writer, 1, request.accounts, accountsFilter);
  writeNamedFilters(writer, 2, request.slots, slotsFilter);
  writeNamedFilters(writer, 3, request.transactions, transactionsFilter);
  writeNamedFilters(writer, 4, request.blocks, blocksFilter);
  names(writer, 5, request.blocksMeta);
  if (request.commitment !== undefined) writer.uint32(6, commitments.indexOf(request.commitment));
  for (const slice of request.accountsDataSlice ?? []) dataSlice(writer, slice);
  names(writer, 8, request.entry);
  ping(writer, 9, request.ping);
  writeNamedFilters(writer, 10, request.transactionsStatus, transactionsFilter);
  if (request.fromSlot !== undefined) writer.uint64(11, request.fromSlot);
  return writer.finish();
}

/** Empty or absent members match everything. Source: geyser.proto, `SubscribeRequestFilterDeshredTransactions`. */
export type DeshredTransactionsFilter = Pick<
  TransactionsFilter,
  'vote' | 'accountInclude' | 'accountExclude' | 'accountRequired'
>;

export type SubscribeDeshredRequest = Readonly<{
  deshredTransactions?: NamedFilters<DeshredTransactionsFilter>;
  slots?: NamedFilters<SlotsFilter>;
  ping?: number;
}>;

function deshredTransactionsFilter(writer: ProtobufWriter, filter: DeshredTransactionsFilter): void {
  flag(writer, 1, filter.vote);
  strings(writer, 2, filter.accountInclude);
  strings(writer, 3, filter.accountExclude);
  strings(writer, 4, filter.accountRequired);
}

export function encodeSubscribeDeshredRequest(request: SubscribeDeshredRequest): Uint8Array {
  const writer = new ProtobufWriter();
  writeNamedFilters(writer, 1, request.deshredTransactions, deshredTransactionsFilter);
  ping(writer, 2, request.ping);
  writeNamedFilters(writer, 3, request.slots, slotsFilter);
  return writer.finish();
}
