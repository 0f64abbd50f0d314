import type { ByteReader, ByteWriter } from '../../../../src/base/bytes.ts';
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

/**
 * Account format of logs and snapshots:
 *
 * address 32 | flags u8 | owner 32 | lamports u64 | rent epoch u64 | data length u32 | data
 * Flags: 0 absent (nothing follows), 1 present, 3 present and executable.
 */
export function writeAccount(writer: ByteWriter, address: Address, account: Account | null): void {
  writer.bytes(addressBytes(address));
  if (account === null) {
    writer.u8(ABSENT);
    return;
  }
  writer
    .u8(PRESENT | (account.executable ? EXECUTABLE : 0))
    .bytes(addressBytes(account.owner))
    .u64(account.lamports)
    .u64(account.rentEpoch)
    .u32(account.data.length)
    .bytes(account.data);
}

/**
 * Inverse of `writeAccount`. The data is a copy.
 * @throws OutOfBytes if truncated.
 */
export function readAccount(reader: ByteReader): [Address, Account | null] {
  const address = addressFromBytes(reader.bytes(32));
  const flags = reader.u8();
  if (flags === ABSENT) return [address, null];
  const owner = ownerAddress(reader.bytes(32));
  const balance = lamports(reader.u64());
  const rentEpoch = reader.u64();
  const data = new Uint8Array(reader.bytes(reader.u32()));
  return [address, { lamports: balance, data, owner, executable: (flags & EXECUTABLE) !== 0, rentEpoch }];
}
