import { type Slot, slot } from '../../solana/units.ts';
import type { Commitment } from '../commitment.ts';
import { ProtobufReader } from './protobuf.ts';
import {
  type ReadFilter,
  readAccountsFilter,
  readBlocksFilter,
  readDeshredTransactionsFilter,
  readEmptyFilter,
  readNamed,
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
import {
  type AccountsFilter,
  type BlocksFilter,
  commitments,
  type DataSlice,
  type DeshredTransactionsFilter,
  type Named,
  type SlotsFilter,
  type SubscribeDeshredRequest,
  type SubscribeRequest,
  type TransactionsFilter,
} from './subscribe-request.ts';

type Draft = {
  readonly faults: RequestFaults;
  readonly accounts: Map<string, AccountsFilter>;
  readonly slots: Map<string, SlotsFilter>;
  readonly transactions: Map<string, TransactionsFilter>;
  readonly transactionsStatus: Map<string, TransactionsFilter>;
  readonly blocks: Map<string, BlocksFilter>;
  readonly blocksMeta: Map<string, null>;
  readonly entry: Map<string, null>;
  readonly accountsDataSlice: DataSlice[];
  commitment: Commitment | undefined;
  fromSlot: Slot | undefined;
  ping: number | undefined;
};

type ReadField = (draft: Draft, reader: ProtobufReader) => void;

const namedField =
  <Filter>(
    kind: FilterKind,
    of: (draft: Draft) => Map<string, Filter>,
    read: ReadFilter<Filter>,
  ): ReadField =>
  (draft, reader) =>
    readNamed(kind, of(draft), reader.message(), read, draft.faults);

function readDataSlice(reader: ProtobufReader, faults: RequestFaults): DataSlice {
  faults.slice();
  let [offset, length] = [0n, 0n];
  while (reader.next()) {
    if (reader.field === 1) offset = reader.uint64();
    else if (reader.field === 2) length = reader.uint64();
    else reader.skipField();
  }
  return { offset, length };
}

function readCommitment(draft: Draft, reader: ProtobufReader): void {
  const number = reader.int32();
  draft.commitment = commitments[number];
  if (draft.commitment !== undefined) return;
  draft.faults.add(`failed to create CommitmentLevel from ${number}`, 'commitment', number);
}

/** By field number. Source: geyser.proto, `SubscribeRequest`. */
const fields: Readonly<Record<number, ReadField>> = {
  1: namedField('accounts', ({ accounts }) => accounts, readAccountsFilter),
  2: namedField('slots', ({ slots }) => slots, readSlotsFilter),
  3: namedField('transactions', ({ transactions }) => transactions, readTransactionsFilter),
  4: namedField('blocks', ({ blocks }) => blocks, readBlocksFilter),
  5: namedField('blocks_meta', ({ blocksMeta }) => blocksMeta, readEmptyFilter),
  6: readCommitment,
  7: (draft, reader) => void draft.accountsDataSlice.push(readDataSlice(reader.message(), draft.faults)),
  8: namedField('entry', ({ entry }) => entry, readEmptyFilter),
  9: (draft, reader) => {
    draft.ping = readPingId(reader.message());
  },
  10: namedField(
    'transactions_status',
    ({ transactionsStatus }) => transactionsStatus,
    readTransactionsFilter,
  ),
  11: (draft, reader) => {
    draft.fromSlot = slot(reader.uint64());
  },
};

const some = <Filter>(named: Map<string, Filter>): Named<Filter> | undefined =>
  named.size === 0 ? undefined : named;
const names = (named: Map<string, null>): readonly string[] | undefined =>
  named.size === 0 ? undefined : [...named.keys()];

function requestOf(draft: Draft): SubscribeRequest {
  const all = {
    accounts: some(draft.accounts),
    slots: some(draft.slots),
    transactions: some(draft.transactions),
    transactionsStatus: some(draft.transactionsStatus),
    blocks: some(draft.blocks),
    blocksMeta: names(draft.blocksMeta),
    entry: names(draft.entry),
    accountsDataSlice: draft.accountsDataSlice.length === 0 ? undefined : draft.accountsDataSlice,
    commitment: draft.commitment,
    fromSlot: draft.fromSlot,
  };
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  ) as SubscribeRequest;
}

/**
 * Decodes the request of a `Subscribe` stream. Byte arrays in the result are views into `bytes`. A ping has no other
 * members. Plan limits are checked elsewhere; decoding stops at the bounds.
 * @throws InvalidProtobuf
 * @throws GrpcError INVALID_ARGUMENT with the plugin's text for invalid filters.
 * @throws Failure FILTER_LIMIT if the bounds are exceeded.
 */
export function decodeSubscribeRequest(
  bytes: Uint8Array,
  bounds: RequestBounds = requestBounds,
): SubscribeRequest {
  const draft: Draft = {
    faults: new RequestFaults(bounds),
    accounts: new Map(),
    slots: new Map(),
    transactions: new Map(),
    transactionsStatus: new Map(),
    blocks: new Map(),
    blocksMeta: new Map(),
    entry: new Map(),
    accountsDataSlice: [],
    commitment: undefined,
    fromSlot: undefined,
    ping: undefined,
  };
  const reader = new ProtobufReader(bytes, 0, bytes.length, draft.faults);
  while (reader.next()) {
    const read = fields[reader.field];
    if (read === undefined) reader.skipField();
    else read(draft, reader);
  }
  if (draft.ping !== undefined) return { ping: draft.ping };
  draft.faults.throwFirst('failed to create filter');
  return requestOf(draft);
}

/**
 * As `decodeSubscribeRequest`, for a `SubscribeDeshred` stream.
 * @throws InvalidProtobuf
 * @throws GrpcError INVALID_ARGUMENT for invalid filters.
 * @throws Failure FILTER_LIMIT if the bounds are exceeded.
 */
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
      readNamed(
        'deshred_transactions',
        deshredTransactions,
        reader.message(),
        readDeshredTransactionsFilter,
        faults,
      );
    else if (reader.field === 2) ping = readPingId(reader.message());
    else if (reader.field === 3) readNamed('slots', slots, reader.message(), readSlotsFilter, faults);
    else reader.skipField();
  }
  if (ping !== undefined) return { ping };
  faults.throwFirst('failed to create deshred filter');
  return {
    ...(deshredTransactions.size === 0 ? {} : { deshredTransactions }),
    ...(slots.size === 0 ? {} : { slots }),
  };
}
