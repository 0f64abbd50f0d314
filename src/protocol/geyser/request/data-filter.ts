import { decodeBase58 } from '../../../ledger/base58.ts';
import { lamports } from '../../../ledger/units.ts';
import { decodeBase64 } from '../../rpc/base64-text.ts';
import type { ProtobufReader } from '../protobuf.ts';
import { type AccountsDataFilter, comparisons } from '../subscribe-request.ts';
import type { RequestFaults } from './request-faults.ts';

/** Source: yellowstone-grpc, `FilterAccountsState::new`. */
const MEMCMP_MAX_BYTES = 128;
const BASE58_MAX_BYTES = 175;
const BASE64_MAX_BYTES = 172;

/** The bytes of a text, or what is wrong with it. */
type Decoded = Uint8Array | string;

function fromBase58(text: string): Decoded {
  if (Buffer.byteLength(text) > BASE58_MAX_BYTES) return 'data too large';
  return decodeBase58(text) ?? 'invalid base58';
}

function fromBase64(text: string): Decoded {
  if (Buffer.byteLength(text) > BASE64_MAX_BYTES) return 'data too large';
  const decoded = decodeBase64(text);
  return 'bytes' in decoded ? decoded.bytes : 'invalid base64';
}

function readMemcmp(reader: ProtobufReader, faults: RequestFaults): AccountsDataFilter | null {
  let offset = 0n;
  let data: Decoded = 'data for memcmp should be defined';
  while (reader.next()) {
    if (reader.field === 1) offset = reader.uint64();
    else if (reader.field === 2) data = reader.bytes();
    else if (reader.field === 3) data = fromBase58(reader.string());
    else if (reader.field === 4) data = fromBase64(reader.string());
    else reader.skip();
  }
  if (typeof data !== 'string' && data.length <= MEMCMP_MAX_BYTES)
    return { kind: 'memcmp', offset, bytes: data };
  faults.add(typeof data === 'string' ? data : 'data too large');
  return null;
}

function readLamportsFilter(reader: ProtobufReader, faults: RequestFaults): AccountsDataFilter | null {
  let filter: AccountsDataFilter | null = null;
  while (reader.next()) {
    const compare = comparisons[reader.field - 1];
    if (compare === undefined) reader.skip();
    else filter = { kind: 'lamports', compare, value: lamports(reader.uint64()) };
  }
  if (filter === null) faults.add('cmp for lamports should be defined');
  return filter;
}

function readTokenAccountState(reader: ProtobufReader, faults: RequestFaults): AccountsDataFilter | null {
  if (reader.bool()) return { kind: 'tokenAccountState' };
  faults.add('token_account_state only allowed to be true');
  return null;
}

/** Reads `SubscribeRequestFilterAccountsFilter`. @returns null when there is a fault. */
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
      reader.skip();
      continue;
    }
    defined = true;
  }
  if (!defined) faults.add('filter should be defined');
  return filter;
}
