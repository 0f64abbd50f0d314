import type { Address } from '../../ledger/address.ts';
import type { Signature } from '../../ledger/signature.ts';
import type { Lamports, Slot } from '../../ledger/units.ts';
import type { Commitment } from '../commitment.ts';
import { ProtobufWriter } from './protobuf-writer.ts';

/**
 * What is asked of the accounts' data, all of which must hold. Source: geyser.proto,
 * `SubscribeRequestFilterAccountsFilter`.
 */
export type AccountsDataFilter = Readonly<
  | { kind: 'memcmp'; offset: bigint; bytes: Uint8Array }
  | { kind: 'dataSize'; bytes: bigint }
  | { kind: 'tokenAccountState' }
  | { kind: 'lamports'; compare: LamportsComparison; value: Lamports }
>;

/** Whether an account's balance is, is not, is below, is above. */
export type LamportsComparison = 'eq' | 'ne' | 'lt' | 'gt';

/** Many addresses in little room, with a few that are none of them. Source: geyser.proto, `CuckooFilter`. */
export type CuckooFilterMessage = Readonly<{
  data: Uint8Array;
  bucketCount: number;
  entriesPerBucket: number;
  fingerprintBits: number;
  hashSeed: bigint;
  hashAlgorithm: number;
}>;

/** A part of accounts' data that is wanted. Source: geyser.proto, `SubscribeRequestAccountsDataSlice`. */
export type DataSlice = Readonly<{ offset: bigint; length: bigint }>;

/** What is empty or absent asks nothing. */
export type AccountsFilter = Readonly<{
  /** Any of them. */
  account?: readonly Address[];
  /** Of any of them. */
  owner?: readonly Address[];
  filters?: readonly AccountsDataFilter[];
  /** Whether a transaction wrote it. */
  nonemptyTxnSignature?: boolean;
  /** One axis with `account`: in the list or in here. */
  cuckooAccounts?: CuckooFilterMessage;
}>;

/** What is empty or absent asks nothing. */
export type TransactionsFilter = Readonly<{
  vote?: boolean;
  failed?: boolean;
  signature?: Signature;
  /** Any of them. */
  accountInclude?: readonly Address[];
  /** None of them. */
  accountExclude?: readonly Address[];
  /** All of them. */
  accountRequired?: readonly Address[];
  /** Whether the owner of a token account counts too: of any, or of one whose balance changed. */
  tokenAccounts?: 'all' | 'balanceChanged';
  /** One axis with `accountInclude`: in the list or in here. */
  cuckooAccountInclude?: CuckooFilterMessage;
}>;

export type SlotsFilter = Readonly<{
  /** Only the status that is the request's commitment. */
  filterByCommitment?: boolean;
  /** Also first shred, completed, bank created, dead. */
  interslotUpdates?: boolean;
}>;

export type BlocksFilter = Readonly<{
  accountInclude?: readonly Address[];
  includeTransactions?: boolean;
  includeAccounts?: boolean;
  includeEntries?: boolean;
  /** One axis with `accountInclude`: in the list or in here. */
  cuckooAccountInclude?: CuckooFilterMessage;
}>;

/** Filters by the names that a client gave them, whatever those are. */
export type Named<Filter> = ReadonlyMap<string, Filter>;

/** All filters by their names: each request replaces the one before. Source: geyser.proto, `SubscribeRequest`. */
export type SubscribeRequest = Readonly<{
  accounts?: Named<AccountsFilter>;
  slots?: Named<SlotsFilter>;
  transactions?: Named<TransactionsFilter>;
  transactionsStatus?: Named<TransactionsFilter>;
  blocks?: Named<BlocksFilter>;
  /** Names; the filter itself is empty. */
  blocksMeta?: readonly string[];
  /** Names; the filter itself is empty. */
  entry?: readonly string[];
  commitment?: Commitment;
  /** Parts of the data of every account that is told. */
  accountsDataSlice?: readonly DataSlice[];
  /** Where to begin, as far as the server remembers. */
  fromSlot?: Slot;
  /** The request is a ping and nothing else. */
  ping?: number;
}>;

const commitments: readonly Commitment[] = ['processed', 'confirmed', 'finalized'];
/** In the order of their field numbers. */
const comparisons: readonly LamportsComparison[] = ['eq', 'ne', 'lt', 'gt'];
const tokenAccountModes = ['all', 'balanceChanged'] as const;

function strings(writer: ProtobufWriter, field: number, values: readonly string[] | undefined): void {
  for (const value of values ?? []) writer.string(field, value);
}

function flag(writer: ProtobufWriter, field: number, value: boolean | undefined): void {
  if (value !== undefined) writer.bool(field, value);
}

function dataFilter(filter: AccountsDataFilter): ProtobufWriter {
  const writer = new ProtobufWriter();
  switch (filter.kind) {
    case 'memcmp':
      return writer.message(1, new ProtobufWriter().uint64(1, filter.offset).bytes(2, filter.bytes));
    case 'dataSize':
      return writer.uint64(2, filter.bytes);
    case 'tokenAccountState':
      return writer.bool(3, true);
    case 'lamports':
      return writer.message(
        4,
        new ProtobufWriter().uint64(comparisons.indexOf(filter.compare) + 1, filter.value),
      );
  }
}

function accountsFilter(filter: AccountsFilter): ProtobufWriter {
  const writer = new ProtobufWriter();
  strings(writer, 2, filter.account);
  strings(writer, 3, filter.owner);
  for (const each of filter.filters ?? []) writer.message(4, dataFilter(each));
  return writer;
}

function slotsFilter(filter: SlotsFilter): ProtobufWriter {
  const writer = new ProtobufWriter();
  flag(writer, 1, filter.filterByCommitment);
  flag(writer, 2, filter.interslotUpdates);
  return writer;
}

function transactionsFilter(filter: TransactionsFilter): ProtobufWriter {
  const writer = new ProtobufWriter();
  flag(writer, 1, filter.vote);
  flag(writer, 2, filter.failed);
  strings(writer, 3, filter.accountInclude);
  strings(writer, 4, filter.accountExclude);
  if (filter.signature !== undefined) writer.string(5, filter.signature);
  strings(writer, 6, filter.accountRequired);
  if (filter.tokenAccounts !== undefined) writer.uint32(30, tokenAccountModes.indexOf(filter.tokenAccounts));
  return writer;
}

function blocksFilter(filter: BlocksFilter): ProtobufWriter {
  const writer = new ProtobufWriter();
  strings(writer, 1, filter.accountInclude);
  flag(writer, 2, filter.includeTransactions);
  flag(writer, 3, filter.includeAccounts);
  flag(writer, 4, filter.includeEntries);
  return writer;
}

/** A map's entry always has both halves: readers exist that drop one without a value. */
function entries<Filter>(
  writer: ProtobufWriter,
  field: number,
  named: Named<Filter> | undefined,
  write: (filter: Filter) => ProtobufWriter,
): void {
  for (const [name, filter] of named ?? []) {
    writer.message(field, new ProtobufWriter().string(1, name).message(2, write(filter)));
  }
}

function names(writer: ProtobufWriter, field: number, given: readonly string[] | undefined): void {
  for (const name of given ?? []) {
    writer.message(field, new ProtobufWriter().string(1, name).message(2, new ProtobufWriter()));
  }
}

/** Writes the request of a `Subscribe` stream. */
export function encodeSubscribeRequest(request: SubscribeRequest): Uint8Array {
  const writer = new ProtobufWriter();
  entries(writer, 1, request.accounts, accountsFilter);
  entries(writer, 2, request.slots, slotsFilter);
  entries(writer, 3, request.transactions, transactionsFilter);
  entries(writer, 4, request.blocks, blocksFilter);
  names(writer, 5, request.blocksMeta);
  if (request.commitment !== undefined) writer.uint32(6, commitments.indexOf(request.commitment));
  names(writer, 8, request.entry);
  if (request.ping !== undefined) writer.message(9, new ProtobufWriter().uint32(1, request.ping));
  entries(writer, 10, request.transactionsStatus, transactionsFilter);
  if (request.fromSlot !== undefined) writer.uint64(11, request.fromSlot);
  return writer.finish();
}
