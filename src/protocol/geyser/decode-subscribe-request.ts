import { type Slot, slot } from '../../solana/units.ts';
import { type Commitment, commitments } from '../commitment.ts';
import { ProtobufReader } from './protobuf.ts';
import {
  type ReadFilter,
  readAccountsFilter,
  readBlocksFilter,
  readDeshredTransactionsFilter,
  readEmptyFilter,
  readNamedFilter,
  readPingId,
  readSlotsFilter,
  readTransactionsFilter,
} from './request/filters.ts';
import {
  type FilterKind,
  type RequestBounds,
  RequestFaults,
  requestBounds,
} from './request/request-faults.ts';
import type {
  AccountsFilter,
  BlocksFilter,
  DataSlice,
  DeshredTransactionsFilter,
  NamedFilters,
  SlotsFilter,
  SubscribeDeshredRequest,
  SubscribeRequest,
  TransactionsFilter,
} from './subscribe-request.ts';

function readDataSlice(reader: ProtobufReader, faults: RequestFaults): DataSlice {
  faults.count('data slices');
  let [offset, length] = [0n, 0n];
  while (reader.next()) {
    if (reader.field === 1) offset = reader.uint64();
    else if (reader.field === 2) length = reader.uint64();
    else reader.skipField();
  }
  return { offset, length };
}

function readCommitment(reader: ProtobufReader, faults: RequestFaults): Commitment | undefined {
  const number = reader.int32();
  const commitment = commitments[number];
  if (commitment === undefined)
    faults.add(`failed to create CommitmentLevel from ${number}`, 'commitment', number);
  return commitment;
}

const nonEmpty = <Filter>(named: Map<string, Filter>): NamedFilters<Filter> | undefined =>
  named.size === 0 ? undefined : named;
const names = (named: Map<string, null>): readonly string[] | undefined =>
  named.size === 0 ? undefined : [...named.keys()];

/**
 * Decodes `SubscribeRequest`, with views into `bytes`. Of a ping, the other fields are ignored.
 * @throws InvalidProtobuf; GrpcError INVALID_ARGUMENT for invalid filters; Failure FILTER_LIMIT beyond the bounds.
 */
export function decodeSubscribeRequest(
  bytes: Uint8Array,
  bounds: RequestBounds = requestBounds,
): SubscribeRequest {
  const faults = new RequestFaults(bounds);
  const accounts = new Map<string, AccountsFilter>();
  const slots = new Map<string, SlotsFilter>();
  const transactions = new Map<string, TransactionsFilter>();
  const transactionsStatus = new Map<string, TransactionsFilter>();
  const blocks = new Map<string, BlocksFilter>();
  const blocksMeta = new Map<string, null>();
  const entry = new Map<string, null>();
  const slices: DataSlice[] = [];
  let commitment: Commitment | undefined;
  let fromSlot: Slot | undefined;
  let ping: number | undefined;
  const reader = new ProtobufReader(bytes, 0, bytes.length, faults);
  const named = <Filter>(kind: FilterKind, filters: Map<string, Filter>, read: ReadFilter<Filter>): void =>
    readNamedFilter(kind, filters, reader.message(), read, faults);
  while (reader.next()) {
    if (reader.field === 1) named('accounts', accounts, readAccountsFilter);
    else if (reader.field === 2) named('slots', slots, readSlotsFilter);
    else if (reader.field === 3) named('transactions', transactions, readTransactionsFilter);
    else if (reader.field === 4) named('blocks', blocks, readBlocksFilter);
    else if (reader.field === 5) named('blocks_meta', blocksMeta, readEmptyFilter);
    else if (reader.field === 6) commitment = readCommitment(reader, faults);
    else if (reader.field === 7) slices.push(readDataSlice(reader.message(), faults));
    else if (reader.field === 8) named('entry', entry, readEmptyFilter);
    else if (reader.field === 9) ping = readPingId(reader.message());
    else if (reader.field === 10) named('transactions_status', transactionsStatus, readTransactionsFilter);
    else if (reader.field === 11) fromSlot = slot(reader.uint64());
    else reader.skipField();
  }
  if (ping !== undefined) return { ping };
  faults.throwFirst('failed to create filter');
  const all = {
    accounts: nonEmpty(accounts),
    slots: nonEmpty(slots),
    transactions: nonEmpty(transactions),
    transactionsStatus: nonEmpty(transactionsStatus),
    blocks: nonEmpty(blocks),
    blocksMeta: names(blocksMeta),
    entry: names(entry),
    accountsDataSlice: slices.length === 0 ? undefined : slices,
    commitment,
    fromSlot,
  };
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  ) as SubscribeRequest;
}

/** As `decodeSubscribeRequest`, for a `SubscribeDeshred` stream. */
export function decodeSubscribeDeshredRequest(
  bytes: Uint8Array,
  bounds: RequestBounds = requestBounds,
): SubscribeDeshredRequest {
  const faults = new RequestFaults(bounds);
  const deshredTransactions = new Map<string, DeshredTransactionsFilter>();
  const slots = new Map<string, SlotsFilter>();
  let ping: number | undefined;
  const reader = new ProtobufReader(bytes, 0, bytes.length, faults);
  while (reader.next()) {
    if (reader.field === 1)
      readNamedFilter(
        'deshred_transactions',
        deshredTransactions,
        reader.message(),
        readDeshredTransactionsFilter,
        faults,
      );
    else if (reader.field === 2) ping = readPingId(reader.message());
    else if (reader.field === 3) readNamedFilter('slots', slots, reader.message(), readSlotsFilter, faults);
    else reader.skipField();
  }
  if (ping !== undefined) return { ping };
  faults.throwFirst('failed to create deshred filter');
  return {
    ...(deshredTransactions.size === 0 ? {} : { deshredTransactions }),
    ...(slots.size === 0 ? {} : { slots }),
  };
}
