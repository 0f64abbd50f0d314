import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GrpcError } from '../grpc/status.ts';
import { CuckooFilter } from './cuckoo-filter.ts';
import type { CuckooFilterMessage } from './subscribe-request.ts';

/** Filter built by the Rust library, with the buckets of some addresses. */
const file = join(import.meta.dirname, '../../../../shared/data/cuckoo/cuckoo-vectors.json');
const present = existsSync(file);

type Probe = { index: number; pubkeyHex: string; fingerprint: number; i1: number; i2: number };
type Vectors = {
  hashSeed: string;
  insertCount: number;
  bucketCount: number;
  dataHex: string;
  probes: Probe[];
};

const unhex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));
/** Addresses of the vectors; see their `pubkeyFormula`. */
const key = (i: number): Uint8Array => Uint8Array.from({ length: 32 }, (_, j) => (i * 31 + j * 7) & 0xff);

const none: CuckooFilterMessage = {
  data: new Uint8Array(8),
  bucketCount: 1,
  entriesPerBucket: 4,
  fingerprintBits: 16,
  hashSeed: 0n,
  hashAlgorithm: 0,
};

describe.skipIf(!present)('a cuckoo filter from the Rust library (../shared/data, cuckoo)', () => {
  const vectors = present ? (JSON.parse(readFileSync(file, 'utf8')) as Vectors) : null;
  const filter = () =>
    new CuckooFilter({
      ...none,
      data: unhex(vectors!.dataHex),
      bucketCount: vectors!.bucketCount,
      hashSeed: BigInt(vectors!.hashSeed),
    });

  it('has each address in the bucket of the library', () => {
    expect(vectors!.probes.length).toBeGreaterThan(10);
    for (const probe of vectors!.probes) {
      const bytes = unhex(probe.pubkeyHex);
      const { fingerprint, first } = filter().locate(bytes, 0);
      expect([fingerprint, first, filter().secondBucketOf(first, fingerprint)]).toEqual([
        probe.fingerprint,
        probe.i1,
        probe.i2,
      ]);
    }
  });
});

describe('a cuckoo filter', () => {
  it('finds an address at any index of its two buckets, and in no other bucket', () => {
    const bucketCount = 16;
    const empty = new CuckooFilter({ ...none, data: new Uint8Array(8 * bucketCount), bucketCount });
    const { fingerprint, first } = empty.locate(key(2), 0);
    const second = empty.secondBucketOf(first, fingerprint);
    expect(second).not.toBe(first);
    for (let index = 0; index < 4 * bucketCount; index++) {
      const data = new Uint8Array(8 * bucketCount);
      data.set([fingerprint & 0xff, fingerprint >> 8], 2 * index);
      const bucket = Math.floor(index / 4);
      const has = new CuckooFilter({ ...none, data, bucketCount }).has(key(2), 0);
      expect([index, has]).toEqual([index, bucket === first || bucket === second]);
    }
  });

  it.each([
    ['unsupported cuckoo hash algorithm 1', { hashAlgorithm: 1 }],
    ['cuckoo entriesPerBucket should be 4, got 5', { entriesPerBucket: 5 }],
    ['cuckoo fingerprintBits should be 16, got 8', { fingerprintBits: 8 }],
    ['cuckoo bucketCount should be a non-zero power of two, got 3', { bucketCount: 3 }],
    ['cuckoo data length should be 16 bytes, got 8', { bucketCount: 2 }],
  ])('is rejected: %s', (fault, change) => {
    expect(() => new CuckooFilter({ ...none, ...change })).toThrow(
      new GrpcError('INVALID_ARGUMENT', `failed to create filter: ${fault}`),
    );
  });
});
