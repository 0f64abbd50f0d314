import { type Address, type AddressFault, parseAddress } from '../../../solana/address.ts';
import { decodeBase58 } from '../../../solana/base58.ts';
import { parseSignature, type Signature, type SignatureFault } from '../../../solana/signature.ts';
import { type Lamports, lamports, type Slot, slot } from '../../../solana/units.ts';
import { type Commitment, commitments } from '../../commitment.ts';
import { decodeBase64 } from '../../rpc/base64-text.ts';
import { readSingleField } from '../fields.ts';
import { NO_BYTES, type ProtobufReader } from '../protobuf.ts';
import type { ProtobufWriter } from '../protobuf-writer.ts';
import type { FieldCodec } from './message-codec.ts';
import type { RequestFaults } from './request-faults.ts';

/** One of a filter's conditions, which must all match. Source: geyser.proto, `SubscribeRequestFilterAccountsFilter`. */
type AccountsDataFilter = Readonly<
  | { kind: 'memcmp'; offset: bigint; bytes: Uint8Array }
  | { kind: 'dataSize'; bytes: bigint }
  | { kind: 'tokenAccountState' }
  | { kind: 'lamports'; compare: (typeof comparisons)[number]; value: Lamports }
>;

/** Ordered by field number. */
const comparisons = ['eq', 'ne', 'lt', 'gt'] as const;

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

function writeDataFilter(writer: ProtobufWriter, filter: AccountsDataFilter): void {
  if (filter.kind === 'dataSize') writer.uint64(2, filter.bytes);
  else if (filter.kind === 'tokenAccountState') writer.bool(3, true);
  else {
    const start = writer.open(filter.kind === 'memcmp' ? 1 : 4);
    if (filter.kind === 'memcmp') writer.nonzeroUint64(1, filter.offset).bytes(2, filter.bytes);
    else writer.uint64(comparisons.indexOf(filter.compare) + 1, filter.value);
    writer.close(start);
  }
}

export const dataFilters: FieldCodec<readonly AccountsDataFilter[]> = {
  read: (reader, faults, before = []) => {
    const filter = readDataFilter(reader.message(), faults);
    if (filter !== null) (before as AccountsDataFilter[]).push(filter);
    return before;
  },
  write: (writer, field, filters) => {
    for (const filter of filters) {
      const start = writer.open(field);
      writeDataFilter(writer, filter);
      writer.close(start);
    }
  },
};

export const flag: FieldCodec<boolean> = {
  read: (reader) => reader.bool(),
  write: (writer, field, value) => writer.bool(field, value),
};

/** Source: solana-address, `ParseAddressError`. */
const addressFaults: Readonly<Record<AddressFault, string>> = {
  WrongSize: 'String is the wrong size',
  Invalid: 'Invalid Base58 string',
};

/** @param name - field name in geyser.proto. */
export const addresses = (name: string): FieldCodec<readonly Address[]> => ({
  read: (reader, faults, before = []) => {
    faults.count('Pubkeys');
    if (faults.hasFault) {
      reader.span();
      return before;
    }
    const text = reader.string();
    const parsed = parseAddress(text);
    if ('fault' in parsed) faults.add(addressFaults[parsed.fault], name, text);
    else (before as Address[]).push(parsed.address);
    return before;
  },
  write: (writer, field, values) => {
    for (const value of values) writer.string(field, value);
  },
});

/** Source: solana-signature, `ParseSignatureError`. */
const signatureFaults: Readonly<Record<SignatureFault, string>> = {
  WrongSize: 'string decoded to wrong size for signature',
  Invalid: 'failed to decode string to signature',
};

export const signature: FieldCodec<Signature> = {
  read: (reader, faults) => {
    if (faults.hasFault) {
      reader.span();
      return undefined;
    }
    const text = reader.string();
    const parsed = parseSignature(text);
    if ('signature' in parsed) return parsed.signature;
    faults.add(signatureFaults[parsed.fault], 'signature', text);
    return undefined;
  },
  write: (writer, field, value) => writer.string(field, value),
};

/** Indexed by enum value. Source: geyser.proto, `TokenAccountExpansionControlFlag`. */
const tokenAccountModes = ['all', 'balanceChanged'] as const;

export const tokenAccounts: FieldCodec<(typeof tokenAccountModes)[number]> = {
  read: (reader, faults) => {
    const value = reader.int32();
    const mode = tokenAccountModes[value];
    if (mode !== undefined) return mode;
    const text = `invalid token_accounts mode value ${value}; expected ALL (0) or BALANCE_CHANGED (1)`;
    faults.add(text, 'token_accounts', value);
    return undefined;
  },
  write: (writer, field, mode) => writer.uint32(field, tokenAccountModes.indexOf(mode)),
};

/** Source: geyser.proto, `CuckooFilter`. */
type CuckooFilterMessage = Readonly<{
  data: Uint8Array;
  bucketCount: number;
  entriesPerBucket: number;
  fingerprintBits: number;
  hashSeed: bigint;
  hashAlgorithm: number;
}>;

/** The `CuckooFilter` class validates the parameters. */
function readCuckooFilter(reader: ProtobufReader): CuckooFilterMessage {
  let data = NO_BYTES;
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

export const cuckooFilter: FieldCodec<CuckooFilterMessage> = {
  read: (reader) => readCuckooFilter(reader.message()),
  write: (writer, field, filter) => {
    const start = writer.open(field, filter.data.length);
    writer.nonemptyBytes(1, filter.data);
    writer.nonzeroUint32(2, filter.bucketCount);
    writer.nonzeroUint32(3, filter.entriesPerBucket);
    writer.nonzeroUint32(4, filter.fingerprintBits);
    writer.nonzeroUint64(5, filter.hashSeed);
    if (filter.hashAlgorithm !== 0) writer.int32(6, filter.hashAlgorithm);
    writer.close(start);
  },
};

export const commitmentLevel: FieldCodec<Commitment> = {
  read: (reader, faults) => {
    const number = reader.int32();
    const commitment = commitments[number];
    if (commitment === undefined)
      faults.add(`failed to create CommitmentLevel from ${number}`, 'commitment', number);
    return commitment;
  },
  write: (writer, field, commitment) => writer.uint32(field, commitments.indexOf(commitment)),
};

/** Requested part of account data. Source: geyser.proto, `SubscribeRequestAccountsDataSlice`. */
type DataSlice = Readonly<{ offset: bigint; length: bigint }>;

function readDataSlice(reader: ProtobufReader): DataSlice {
  let [offset, length] = [0n, 0n];
  while (reader.next()) {
    if (reader.field === 1) offset = reader.uint64();
    else if (reader.field === 2) length = reader.uint64();
    else reader.skipField();
  }
  return { offset, length };
}

export const dataSlices: FieldCodec<readonly DataSlice[]> = {
  read: (reader, faults, before = []) => {
    const slice = reader.message();
    faults.count('data slices');
    (before as DataSlice[]).push(readDataSlice(slice));
    return before;
  },
  write: (writer, field, slices) => {
    for (const { offset, length } of slices) {
      const start = writer.open(field);
      writer.nonzeroUint64(1, offset).nonzeroUint64(2, length);
      writer.close(start);
    }
  },
};

export const slotNumber: FieldCodec<Slot> = {
  read: (reader) => slot(reader.uint64()),
  write: (writer, field, value) => writer.uint64(field, value),
};

export const readPingId = (reader: ProtobufReader): number =>
  readSingleField(reader, (inner) => inner.int32(), 0);

export const pingId: FieldCodec<number> = {
  read: (reader) => readPingId(reader.message()),
  write: (writer, field, id) => {
    const start = writer.open(field);
    writer.int32(1, id);
    writer.close(start);
  },
};
