import { zstdCompressSync } from 'node:zlib';
import type { WritableJson } from '../../base/json.ts';
import type { Account } from '../account/account.ts';
import type { Address } from '../address.ts';
import { encodeBase58 } from '../base58.ts';
import type { AccountLookup } from '../parsed/account/parsed-account.ts';
import { parseAccountData } from '../parsed/parse-account.ts';
import { isTokenProgram } from '../programs.ts';

/** How account data is written; `binary` is base58 as a bare string. Order of Agave's `UiAccountEncoding`. */
export const accountEncodings = ['binary', 'base58', 'base64', 'jsonParsed', 'base64+zstd'] as const;
export type AccountEncoding = (typeof accountEncodings)[number];

/** The part of an account's data that the caller wants, in bytes. */
export type DataSlice = Readonly<{ offset: number; length: number }>;

/** Base58 takes quadratic time; more data than this is refused in it. */
export const BASE58_DATA_MAX_BYTES = 128;

/** The data (after slicing) is too long for base58. JSON-RPC answers -32600 with exactly this message. */
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

/** What is shown of an account that does not parse: of a token program's all of it, as from Agave. */
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
      return [base64(zstdCompressSync(data)), 'base64+zstd'];
    case 'jsonParsed':
      return parseAccountData(address, account, lookup) ?? [base64(unparsed(account, data)), 'base64'];
  }
}

/**
 * An account as JSON-RPC shows it: `{data, executable, lamports, owner, rentEpoch, space}`. `space` is the whole
 * length of the data, whatever the slice; parsed data is not sliced.
 *
 * @param lookup where `jsonParsed` finds the mint of a token account
 * @throws Base58TooLong for `binary` and `base58` when more than 128 bytes would be shown
 * @see account-decoder/src/lib.rs, `encode_ui_account`; rpc/src/rpc.rs, `encode_account`
 */
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
