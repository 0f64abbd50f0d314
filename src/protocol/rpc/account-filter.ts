import type { JsonValue } from '../../base/json.ts';
import type { Account } from '../../solana/account/account.ts';
import { isTokenAccount } from '../../solana/token/token-state.ts';
import { invalidParams } from '../rpc-error.ts';
import { decodeBase58Text } from './base58-text.ts';
import { decodeBase64 } from './base64-text.ts';
import {
  type JsonObject,
  member,
  optionalMember,
  payloadOf,
  readArray,
  readObject,
  readTagged,
  readU8,
  readU64,
  readUsize,
  readVariant,
  required,
  serdeFault,
  withoutPayload,
} from './serde.ts';

/** For getProgramAccounts and programSubscribe. Sources: Agave rpc-client-api `filter.rs`; solana-json-rpc.md §1.8. */
export type AccountFilter = Readonly<
  | { kind: 'dataSize'; size: bigint }
  | { kind: 'memcmp'; offset: bigint; bytes: Uint8Array }
  | { kind: 'tokenAccountState' }
>;

/** Source: Agave `MAX_GET_PROGRAM_ACCOUNT_FILTERS`. */
export const FILTERS_MAX = 4;
const BYTES_MAX = 128;

type EncodedBytes =
  | Readonly<{ encoding: 'base58' | 'base64'; text: string }>
  | Readonly<{ encoding: 'bytes'; bytes: readonly number[] }>;

/** A filter whose bytes are still encoded. */
export type UnverifiedFilter =
  | Exclude<AccountFilter, { kind: 'memcmp' }>
  | Readonly<{ kind: 'memcmp'; offset: bigint; encoded: EncodedBytes }>;

const isByte = (value: JsonValue): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255;

function readMemcmpBytes(value: JsonValue): string | readonly number[] {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every(isByte)) return value.map(readU8);
  throw serdeFault('data did not match any variant of untagged enum DataType');
}

function readEncoded(memcmp: JsonObject): EncodedBytes {
  const given = member(memcmp, 'bytes');
  const bytes = given === undefined ? null : readMemcmpBytes(given);
  const encoding = optionalMember(memcmp, 'encoding', (value) =>
    readVariant(value, ['base58', 'base64', 'bytes']),
  );
  if (bytes === null) throw serdeFault('missing field `bytes`');
  if (typeof bytes !== 'string') return { encoding: 'bytes', bytes };
  return { encoding: encoding === 'base64' ? 'base64' : 'base58', text: bytes };
}

function readMemcmp(value: JsonValue): UnverifiedFilter {
  const memcmp = readObject(value, 'Memcmp');
  return {
    kind: 'memcmp',
    offset: required(memcmp, 'offset', readUsize),
    encoded: readEncoded(memcmp),
  };
}

function readFilter(value: JsonValue): UnverifiedFilter {
  const tagged = readTagged(value, ['dataSize', 'memcmp', 'tokenAccountState']);
  switch (tagged.variant) {
    case 'dataSize':
      return { kind: 'dataSize', size: payloadOf(tagged, readU64) };
    case 'memcmp':
      return payloadOf(tagged, readMemcmp);
    case 'tokenAccountState':
      withoutPayload(tagged);
      return { kind: 'tokenAccountState' };
  }
}

export const readFilters = (value: JsonValue): UnverifiedFilter[] => readArray(value, readFilter);

/** `textMax`: maximum length of the string that encodes 128 bytes. */
const textEncodings = {
  base58: { textMax: 175, decode: decodeBase58Text, error: 'Base58DecodeError' },
  base64: { textMax: 172, decode: decodeBase64, error: 'Base64DecodeError' },
};

const tooLarge = () => invalidParams('Invalid param: DataTooLarge');

function decodeText(text: string, encoding: keyof typeof textEncodings): Uint8Array {
  const { textMax, decode, error } = textEncodings[encoding];
  if (Buffer.byteLength(text) > textMax) throw tooLarge();
  const decoded = decode(text);
  if ('fault' in decoded) throw invalidParams(`Invalid param: ${error}(${decoded.fault})`);
  return decoded.bytes;
}

function decodeEncoded(encoded: EncodedBytes): Uint8Array {
  const bytes = encoded.encoding === 'bytes' ? encoded.bytes : decodeText(encoded.text, encoded.encoding);
  if (bytes.length > BYTES_MAX) throw tooLarge();
  return Uint8Array.from(bytes);
}

/** Decodes the bytes of filters. @throws RpcError -32602 with Agave's texts. */
export function verifyFilters(filters: readonly UnverifiedFilter[]): AccountFilter[] {
  if (filters.length > FILTERS_MAX) throw invalidParams(`Too many filters provided; max ${FILTERS_MAX}`);
  return filters.map((filter) =>
    filter.kind === 'memcmp'
      ? { kind: 'memcmp', offset: filter.offset, bytes: decodeEncoded(filter.encoded) }
      : filter,
  );
}

function hasBytes(data: Uint8Array, offset: bigint, bytes: Uint8Array): boolean {
  if (offset + BigInt(bytes.length) > BigInt(data.length)) return false;
  const start = Number(offset);
  return bytes.every((byte, i) => data[start + i] === byte);
}

/** Source: Agave rpc/src/filter.rs. */
export function matchesAccountFilter(filter: AccountFilter, { data }: Account): boolean {
  switch (filter.kind) {
    case 'dataSize':
      return BigInt(data.length) === filter.size;
    case 'memcmp':
      return hasBytes(data, filter.offset, filter.bytes);
    case 'tokenAccountState':
      return isTokenAccount(data);
  }
}
