import { createHash } from 'node:crypto';
import { type Address, addressBytes } from '../../../ledger/address.ts';

const MARKER = Buffer.from('ProgramDerivedAddress');
const BUMP_MAX = 255;
/** Each further bump is needed half as often as the one before: one address in 16 million is not found. */
const BUMPS_TRIED = 24;

/**
 * Whether a program signs for this address under these seeds. An address that comes out of the hash can be nothing
 * else, so that its place on the curve, which is dear to know, needs no look.
 * Source: solana-address, `create_program_address`.
 */
export function isDerivedFrom(address: Address, seeds: readonly Uint8Array[], program: Address): boolean {
  const wanted = Buffer.from(addressBytes(address));
  const owner = addressBytes(program);
  const seeded = createHash('sha256');
  for (const seed of seeds) seeded.update(seed);
  for (let tried = 0; tried < BUMPS_TRIED; tried++) {
    const bump = Uint8Array.of(BUMP_MAX - tried);
    if (seeded.copy().update(bump).update(owner).update(MARKER).digest().equals(wanted)) return true;
  }
  return false;
}

/** A u64 as a seed. */
export function u64Seed(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}
