import { type Address, addressBytes } from './address.ts';
import { type Blockhash, blockhashBytes } from './blockhash.ts';
import { SipHash } from './sip-hash.ts';

/** One compression and three finalization rounds, as in Rust's standard library. */
export function sipHash13(bytes: Uint8Array, [key0, key1]: readonly [bigint, bigint] = [0n, 0n]): bigint {
  const hash = new SipHash(key0, key1, 1, 3);
  hash.bytes(bytes);
  return (BigInt(hash.high) << 32n) | BigInt(hash.low);
}

/**
 * Reward partition of a stake account. Source: solana-epoch-rewards-hasher.
 * @param seed - hash of the last block of the previous epoch.
 */
export function rewardPartition(address: Address, seed: Blockhash, partitions: bigint): number {
  const hash = sipHash13(Buffer.concat([blockhashBytes(seed), addressBytes(address)]));
  return Number((partitions * hash) >> 64n);
}
