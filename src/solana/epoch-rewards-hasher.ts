import { type Address, addressBytes } from './address.ts';
import { type Blockhash, blockhashBytes } from './blockhash.ts';

const MASK = 0xffff_ffff_ffff_ffffn;
const WORD_BYTES = 8;

const rotate = (value: bigint, bits: bigint): bigint => ((value << bits) | (value >> (64n - bits))) & MASK;

type State = [v0: bigint, v1: bigint, v2: bigint, v3: bigint];

function round([a, b, c, d]: State): State {
  let [v0, v1, v2, v3] = [(a + b) & MASK, b, (c + d) & MASK, d];
  v1 = rotate(v1, 13n) ^ v0;
  v3 = rotate(v3, 16n) ^ v2;
  v0 = rotate(v0, 32n);
  v2 = (v2 + v1) & MASK;
  v0 = (v0 + v3) & MASK;
  v1 = rotate(v1, 17n) ^ v2;
  v3 = rotate(v3, 21n) ^ v0;
  return [v0, v1, rotate(v2, 32n), v3];
}

function mix([v0, v1, v2, v3]: State, word: bigint): State {
  const [a, b, c, d] = round([v0, v1, v2, v3 ^ word]);
  return [a ^ word, b, c, d];
}

/** Input words; the last holds the remainder and the length in its top byte. */
function* words(bytes: Uint8Array): Generator<bigint> {
  const wordsEnd = bytes.length - (bytes.length % WORD_BYTES);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < wordsEnd; at += WORD_BYTES) yield view.getBigUint64(at, true);
  let last = BigInt(bytes.length & 0xff) << 56n;
  for (let at = wordsEnd; at < bytes.length; at++)
    last |= BigInt(bytes[at] ?? 0) << BigInt(8 * (at - wordsEnd));
  yield last;
}

/** SipHash with one compression and three finalization rounds. Source: Aumasson and Bernstein. */
export function sipHash13(bytes: Uint8Array, key: readonly [bigint, bigint] = [0n, 0n]): bigint {
  let state: State = [
    key[0] ^ 0x736f6d6570736575n,
    key[1] ^ 0x646f72616e646f6dn,
    key[0] ^ 0x6c7967656e657261n,
    key[1] ^ 0x7465646279746573n,
  ];
  for (const word of words(bytes)) state = mix(state, word);
  const [v0, v1, v2, v3] = state;
  const [a, b, c, d] = round(round(round([v0, v1, v2 ^ 0xffn, v3])));
  return a ^ b ^ c ^ d;
}

/**
 * Reward partition of a stake account. Source: solana-epoch-rewards-hasher.
 * @param seed - hash of the last block of the previous epoch.
 */
export function rewardPartition(address: Address, seed: Blockhash, partitions: bigint): number {
  const hash = sipHash13(Buffer.concat([blockhashBytes(seed), addressBytes(address)]));
  return Number((partitions * hash) >> 64n);
}
