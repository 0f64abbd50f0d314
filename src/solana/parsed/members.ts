import type { ByteReader } from '../../base/bytes.ts';
import type { WritableJson } from '../../base/json.ts';
import { decimalText } from '../../base/text/float-decimal.ts';
import { addressFromBytes } from '../address.ts';
import { hash, i64, list, pubkey, readOption, u64, utf8 } from '../codec.ts';
import { uiTokenAmount } from '../encoding/ui-token-amount.ts';
import { readBase64, readBool, readText } from './bincode.ts';
import type { Members } from './wire-order.ts';

type Type = (data: ByteReader) => WritableJson;
export type Types = Readonly<Record<string, Type>>;

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** Reads bytes; all zeros mean no value. */
const nonzero =
  <T>(length: number, none: T, show: (bytes: Uint8Array) => string) =>
  (data: ByteReader): string | T => {
    const bytes = data.bytes(length);
    return bytes.every((byte) => byte === 0) ? none : show(bytes);
  };

const undefinedOr =
  <T>(read: (data: ByteReader) => T) =>
  (data: ByteReader): T | undefined =>
    readOption(data, read) ?? undefined;

const ELGAMAL_KEY_BYTES = 32;
const ELGAMAL_CIPHERTEXT_BYTES = 64;
const AE_CIPHERTEXT_BYTES = 36;

/** Without a value, members of a `?` type are omitted and members of a `~` type are null. */
const types: Types = {
  u8: (data) => data.u8(),
  i8: (data) => (data.u8() << 24) >> 24,
  u16: (data) => data.u16(),
  i16: (data) => (data.u16() << 16) >> 16,
  u32: (data) => data.u32(),
  u64: u64.read,
  'u64?': undefinedOr(u64.read),
  'u64~': (data) => readOption(data, u64.read),
  u64text: (data) => String(data.u64()),
  'u64text?': undefinedOr((data) => String(data.u64())),
  u64s: list(u64).read,
  i64: i64.read,
  'i64?': undefinedOr(i64.read),
  'i64~': (data) => readOption(data, i64.read),
  f64: (data) => decimalText(data.f64()),
  bool: readBool,
  /** Any nonzero byte is true. */
  flag: (data) => data.bool(),
  pubkey: pubkey.read,
  'pubkey?': undefinedOr(pubkey.read),
  'pubkey~': (data) => readOption(data, pubkey.read),
  pubkeys: list(pubkey).read,
  'zeroable?': nonzero(32, undefined, addressFromBytes),
  'zeroable~': nonzero(32, null, addressFromBytes),
  hash: hash.read,
  base64: readBase64,
  text: readText,
  string: (data) => utf8(data.bytes(data.u32())),
  tokenAmount: (data) => uiTokenAmount(data.u64(), data.u8()),
  elGamal: (data) => base64(data.bytes(ELGAMAL_KEY_BYTES)),
  'elGamal~': nonzero(ELGAMAL_KEY_BYTES, null, base64),
  ciphertext: (data) => base64(data.bytes(ELGAMAL_CIPHERTEXT_BYTES)),
  balance: (data) => base64(data.bytes(AE_CIPHERTEXT_BYTES)),
  /** Omitted from the result: an address that is also among the accounts, and the two auditor ciphertexts. */
  skippedPubkey: (data) => void data.skipBytes(32),
  skippedAuditorAmount: (data) => void data.skipBytes(2 * ELGAMAL_CIPHERTEXT_BYTES),
};

/** Members are written as `name name type, name type`; consecutive names share the type that follows. */
export function membersReader(text: string, own: Types = {}): (data: ByteReader) => Members {
  const fields = text.split(',').flatMap((part) => {
    const words = part.trim().split(/\s+/);
    const type = words.pop() ?? '';
    const read = own[type] ?? types[type];
    if (type !== '' && read === undefined) throw new TypeError(`Unknown type: ${type}`);
    return words.map((name) => [name, read as Type] as const);
  });
  return (data) => Object.fromEntries(fields.map(([name, read]) => [name, read(data)]));
}
