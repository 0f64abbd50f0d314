import { decodeBase58 } from '../../../solana/base58.ts';
import { lamports } from '../../../solana/units.ts';
import { decodeBase64 } from '../../rpc/base64-text.ts';
import type { ProtobufReader } from '../protobuf.ts';
import { type AccountsDataFilter, comparisons } from '../subscribe-request.ts';
import type { RequestFaults } from './request-faults.ts';

/** Source: yellowstone-grpc, `FilterAccountsState::new`. */
const MEMCMP_MAX_BYTES = 128;
const BASE58_MAX_BYTES = 175;
const BASE64_MAX_BYTES = 172;

/** Decoded bytes, or the error text. */
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

/** Reads `SubscribeRequestFilterAccountsFilter`. @returns null if invalid. */
export function readDataFilter(reader: ProtobufReader, faults: RequestFaults): AccountsDataFilter | null {
  faults.dataFilter();
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
