import { createHash } from 'node:crypto';
import { type Address, addressBytes, addressFromBytes } from './address.ts';

/** Field prime of curve25519 and curve constant d. Source: RFC 8032 §5.1. */
const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

const MARKER = Buffer.from('ProgramDerivedAddress');
const SEED_MAX_BYTES = 32;
const SEEDS_MAX = 16;
const BUMP_MAX = 255;
/** Each bump's hash is off the curve with probability 1/2, so 24 tries miss one address in 16 million. */
const BUMPS_TRIED = 24;

function littleEndian(bytes: Uint8Array): bigint {
  const reversed = Buffer.from(bytes).reverse();
  reversed[0] = (reversed[0] as number) & 0x7f;
  return BigInt(`0x${reversed.toString('hex')}`);
}

function trailingZeros(value: bigint): bigint {
  let zeros = 0n;
  let rest = value;
  for (; (rest & 0xffffffffn) === 0n; rest >>= 32n) zeros += 32n;
  const low = Number(rest & 0xffffffffn);
  return zeros + BigInt(31 - Math.clz32(low & -low));
}

/** Same check as Solana's `is_on_curve`. */
export function isOnCurve(bytes: Uint8Array): boolean {
  const y = littleEndian(bytes) % P;
  const square = (y * y) % P;
  const over = (square - 1n + P) % P;
  const under = (D * square + 1n) % P;
  // x² = over / under has a root exactly if over · under does. The Jacobi symbol is faster than Euler's criterion.
  const n = (over * under) % P;
  let [upper, lower, isRoot] = [n, P, true];
  while (upper !== 0n) {
    const zeros = trailingZeros(upper);
    upper >>= zeros;
    const lowerMod8 = lower & 7n;
    if ((zeros & 1n) === 1n && (lowerMod8 === 3n || lowerMod8 === 5n)) isRoot = !isRoot;
    if ((upper & 3n) === 3n && (lower & 3n) === 3n) isRoot = !isRoot;
    [upper, lower] = [lower % upper, upper];
  }
  return isRoot || lower !== 1n;
}

/** Hashes seeds, bump and program. A hash that is off the curve is a valid address. */
function hashOf(seeds: readonly Uint8Array[], program: Address): (bump: number) => Buffer {
  const seeded = createHash('sha256');
  for (const seed of seeds) seeded.update(seed);
  const owner = addressBytes(program);
  return (bump) => seeded.copy().update(Uint8Array.of(bump)).update(owner).update(MARKER).digest();
}

/**
 * Uses the largest bump whose hash is off the curve. Source: solana-address, `find_program_address`.
 * @throws RangeError if there are more than 15 seeds, a seed exceeds 32 bytes, or every bump's hash is on the curve.
 */
export function findProgramAddress(
  seeds: readonly Uint8Array[],
  program: Address,
): { address: Address; bump: number } {
  if (seeds.length >= SEEDS_MAX || seeds.some(({ length }) => length > SEED_MAX_BYTES)) {
    throw new RangeError('too many seeds, or a seed is too long');
  }
  const hash = hashOf(seeds, program);
  for (let bump = BUMP_MAX; bump >= 0; bump--) {
    const bytes = hash(bump);
    if (!isOnCurve(bytes)) return { address: addressFromBytes(bytes), bump };
  }
  throw new RangeError('no bump seed yields an address off the curve');
}

/** Compares hashes only, without the costly curve check. Source: `create_program_address`. */
export function isDerivedFrom(address: Address, seeds: readonly Uint8Array[], program: Address): boolean {
  const wanted = Buffer.from(addressBytes(address));
  const hash = hashOf(seeds, program);
  for (let tried = 0; tried < BUMPS_TRIED; tried++) if (hash(BUMP_MAX - tried).equals(wanted)) return true;
  return false;
}

export function u64Seed(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}
