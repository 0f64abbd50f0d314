import { createHash } from 'node:crypto';
import { CompressedAccountFilterSet } from '@triton-one/yellowstone-grpc';
import { describe, expect, it } from 'vitest';
import { CuckooFilter } from '../../src/protocol/geyser/cuckoo-filter.ts';
import type { CuckooFilterMessage } from '../../src/protocol/geyser/subscribe-request.ts';
import { addressFromBytes } from '../../src/solana/address.ts';
import { SipHash } from '../../src/solana/sip-hash.ts';

/** Sets created by the published client, with its own Rust code. */
const keyAt = (n: number): Buffer => createHash('sha256').update(`key ${n}`).digest();

function setOf(keys: readonly Buffer[], capacity: number): CuckooFilterMessage {
  const set = new CompressedAccountFilterSet(capacity);
  for (const key of keys) set.insert(addressFromBytes(key));
  const { data, bucketCount, entriesPerBucket, fingerprintBits, hashSeed, hashAlgorithm } = set.toProto();
  const numbers = { bucketCount: Number(bucketCount), entriesPerBucket, fingerprintBits };
  return { ...numbers, data: Uint8Array.from(data), hashSeed: BigInt(hashSeed), hashAlgorithm };
}

const bucketOf = ({ data }: CuckooFilterMessage, bucket: number): number[] =>
  [0, 1, 2, 3].map((at) => Buffer.from(data).readUInt16LE(bucket * 8 + at * 2));

describe('a cuckoo set of the published client', () => {
  it('contains all of its keys, in either bucket', () => {
    const size = 1_000;
    const keys = Array.from({ length: size }, (_, n) => keyAt(n));
    const message = setOf(keys, size);
    const filter = new CuckooFilter(message);
    expect(keys.filter((key) => !filter.has(key, 0))).toEqual([]);
    const inFirst = keys.filter((key) => {
      const { fingerprint, first } = filter.locate(key, 0);
      return bucketOf(message, first).includes(fingerprint);
    });
    // Otherwise, the test would not show that the second bucket is checked.
    expect(inFirst.length).toBeLessThan(size);
    const others = Array.from({ length: 10_000 }, (_, n) => keyAt(size + n));
    expect(others.filter((key) => filter.has(key, 0)).length).toBeLessThan(20);
  });

  it('stores a fingerprint of 0, which marks a free entry, as 1', () => {
    const empty = setOf([], 100);
    const hash = new SipHash(empty.hashSeed);
    const isNull = (key: Buffer): boolean => {
      hash.key(key, 0, key.length);
      return (hash.high & 0xffff) === 0;
    };
    let n = 0;
    while (!isNull(keyAt(n))) n++;
    const key = keyAt(n);
    expect(new CuckooFilter(empty).has(key, 0)).toBe(false);
    const message = setOf([key], 100);
    expect(message.hashSeed).toBe(empty.hashSeed);
    expect([...new Uint16Array(message.data.buffer)].filter((fingerprint) => fingerprint !== 0)).toEqual([1]);
    const filter = new CuckooFilter(message);
    expect(filter.has(key, 0)).toBe(true);
    expect(filter.locate(key, 0).fingerprint).toBe(1);
  });
});
