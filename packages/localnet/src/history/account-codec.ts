import { type ByteReader, type ByteWriter, OutOfBytes } from '../../../../src/base/bytes.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import { type Address, addressBytes, addressFromBytes } from '../../../../src/solana/address.ts';
import { lamports } from '../../../../src/solana/units.ts';

/** Base58 texts of owners are cached, because there are few distinct ones. */
const CACHED_OWNERS_MAX = 4096;
const ownerCache = new Map<string, Address>();

export function ownerAddress(bytes: Uint8Array): Address {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const found = ownerCache.get(raw);
  if (found !== undefined) return found;
  if (ownerCache.size >= CACHED_OWNERS_MAX) ownerCache.clear();
  const owner = addressFromBytes(bytes);
  ownerCache.set(raw, owner);
  return owner;
}

const ABSENT = 0;
const PRESENT = 1;
const EXECUTABLE = 2;
const SHORTENED = 4;

/** Shorter runs of zeros are stored: most of a vote account, which changes in every slot, is zeros. */
const SHORTENED_MIN_BYTES = 256;

/** Data of at most this many bytes is shortened. */
const SHORTENED_MAX_BYTES = 10 * 1024 * 1024;

function storedLength(data: Uint8Array): number {
  if (data.length > SHORTENED_MAX_BYTES) return data.length;
  let length = data.length;
  while (length > 0 && data[length - 1] === 0) length--;
  return data.length - length >= SHORTENED_MIN_BYTES ? length : data.length;
}

/**
 * Account format of logs and snapshots:
 *
 * address 32 | flags u8 | owner 32 | lamports u64 | rent epoch u64 | data length u32 | stored length u32 | data
 * Flags: 0 absent (nothing follows); 1 present, with 2 executable, with 4 stored without the zeros at its end. Only
 * then there is a stored length.
 */
export function writeAccount(writer: ByteWriter, address: Address, account: Account | null): void {
  writer.bytes(addressBytes(address));
  if (account === null) {
    writer.u8(ABSENT);
    return;
  }
  const { data } = account;
  const stored = storedLength(data);
  const isShortened = stored < data.length;
  writer
    .u8(PRESENT | (account.executable ? EXECUTABLE : 0) | (isShortened ? SHORTENED : 0))
    .bytes(addressBytes(account.owner))
    .u64(account.lamports)
    .u64(account.rentEpoch)
    .u32(data.length);
  if (isShortened) writer.u32(stored);
  writer.bytes(isShortened ? data.subarray(0, stored) : data);
}

/**
 * Inverse of `writeAccount`. The data is a copy.
 * @throws OutOfBytes if truncated, or if a length is not possible.
 */
export function readAccount(reader: ByteReader): [Address, Account | null] {
  const address = addressFromBytes(reader.bytes(32));
  const flags = reader.u8();
  if (flags === ABSENT) return [address, null];
  const owner = ownerAddress(reader.bytes(32));
  const balance = lamports(reader.u64());
  const rentEpoch = reader.u64();
  const data = readData(reader, (flags & SHORTENED) !== 0);
  return [address, { lamports: balance, data, owner, executable: (flags & EXECUTABLE) !== 0, rentEpoch }];
}

function readData(reader: ByteReader, isShortened: boolean): Uint8Array {
  const length = reader.u32();
  if (!isShortened) return new Uint8Array(reader.bytes(length));
  const stored = reader.bytes(reader.u32());
  if (length > SHORTENED_MAX_BYTES || stored.length > length)
    throw new OutOfBytes(`${length} bytes of data cannot be shortened to ${stored.length}`, length);
  const data = new Uint8Array(length);
  data.set(stored);
  return data;
}
