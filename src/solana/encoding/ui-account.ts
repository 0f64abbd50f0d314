import type { JsonValue, WritableJson } from '../../base/json.ts';
import type { Account } from '../account/account.ts';
import type { Address } from '../address.ts';
import { encodeBase58 } from '../base58.ts';
import type { AccountLookup } from '../parsed/account/parsed-account.ts';
import { parseAccountData } from '../parsed/parse-account.ts';
import { isTokenProgram } from '../programs.ts';
import { lamports } from '../units.ts';
import type { AccountEncoding, DataSlice } from './encodings.ts';
import { listOf, MalformedJson, objectOf, stringOf, u64Of } from './read-json.ts';
import { readAddress } from './read-ui-meta.ts';
import { compressAsStream } from './zstd-frame.ts';

export const BASE58_DATA_MAX_BYTES = 128;

/** JSON-RPC responds with -32600 and exactly this message. */
export class Base58TooLong extends Error {
  override readonly name = 'Base58TooLong';
  constructor() {
    super(
      `Encoded binary (base 58) data should be less than ${BASE58_DATA_MAX_BYTES} bytes, please use Base64 encoding.`,
    );
  }
}

function sliceData(data: Uint8Array, slice: DataSlice | null | undefined): Uint8Array {
  return slice ? data.subarray(slice.offset, slice.offset + slice.length) : data;
}

function boundedBase58(data: Uint8Array): string {
  if (data.length > BASE58_DATA_MAX_BYTES) throw new Base58TooLong();
  return encodeBase58(data);
}

const base64 = (data: Uint8Array): string =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');

/** Like Agave, ignores the slice for a token program account that cannot be parsed. */
const unparsed = (account: Account, sliced: Uint8Array): Uint8Array =>
  isTokenProgram(account.owner) ? account.data : sliced;

function encodeData(
  address: Address,
  account: Account,
  encoding: AccountEncoding,
  slice: DataSlice | null | undefined,
  lookup: AccountLookup,
): WritableJson {
  const data = sliceData(account.data, slice);
  switch (encoding) {
    case 'binary':
      return boundedBase58(data);
    case 'base58':
      return [boundedBase58(data), 'base58'];
    case 'base64':
      return [base64(data), 'base64'];
    case 'base64+zstd':
      return [base64(compressAsStream(data)), 'base64+zstd'];
    case 'jsonParsed':
      return parseAccountData(address, account, lookup) ?? [base64(unparsed(account, data)), 'base64'];
  }
}

/** `space` is the full data length; parsed data is not sliced. Source: account-decoder, `encode_ui_account`. */
export function encodeAccount(
  address: Address,
  account: Account,
  encoding: AccountEncoding,
  dataSlice: DataSlice | null | undefined,
  lookup: AccountLookup = {},
): WritableJson {
  return {
    data: encodeData(address, account, encoding, dataSlice, lookup),
    executable: account.executable,
    lamports: account.lamports,
    owner: account.owner,
    rentEpoch: account.rentEpoch,
    space: account.data.length,
  };
}

/** Decodes a `base64` account whose data is not sliced. @throws MalformedJson */
export function readAccount(value: JsonValue): Account {
  const account = objectOf(value, 'an account');
  const [text, encoding] = listOf(account.data, 'account data');
  if (encoding !== 'base64') throw new MalformedJson('base64 account data');
  if (typeof account.executable !== 'boolean') throw new MalformedJson('an executable flag');
  return {
    lamports: lamports(u64Of(account.lamports, 'lamports')),
    data: Buffer.from(stringOf(text, 'account data'), 'base64'),
    owner: readAddress(account.owner, 'an owner'),
    executable: account.executable,
    rentEpoch: u64Of(account.rentEpoch, 'a rentEpoch'),
  };
}
