import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GrpcError } from '../grpc/status.ts';
import { CuckooFilter } from './cuckoo-filter.ts';
import { SipHash } from './sip-hash.ts';
import type { CuckooFilterMessage } from './subscribe-request.ts';

/** Needs ../shared/data/cuckoo: a filter that the Rust library made, with what is where in it. */
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
/** The addresses of the vectors: see `pubkeyFormula` in them. */
const key = (i: number): Uint8Array => Uint8Array.from({ length: 32 }, (_, j) => (i * 31 + j * 7) & 0xff);

const none: CuckooFilterMessage = {
  data: new Uint8Array(8),
  bucketCount: 1,
  entriesPerBucket: 4,
  fingerprintBits: 16,
  hashSeed: 0n,
  hashAlgorithm: 0,
};

describe.skipIf(!present)('a cuckoo filter that the Rust library made (../shared/data, cuckoo)', () => {
  const vectors = present ? (JSON.parse(readFileSync(file, 'utf8')) as Vectors) : null;
  const filter = () =>
    new CuckooFilter({
      ...none,
      data: unhex(vectors!.dataHex),
      bucketCount: vectors!.bucketCount,
      hashSeed: BigInt(vectors!.hashSeed),
    });

  it('has each address where the library put it', () => {
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

  it('says of every address in it that it is, wherever that stands', () => {
    const cuckoo = filter();
    const message = new Uint8Array(100);
    for (let i = 0; i < vectors!.insertCount; i++) {
      message.set(key(i), 5);
      expect([i, cuckoo.has(message, 5)]).toEqual([i, true]);
    }
  });
});

describe('a cuckoo filter', () => {
  it('finds an address in either of its two buckets, at each of their places, and in no other', () => {
    const bucketCount = 16;
    const empty = new CuckooFilter({ ...none, data: new Uint8Array(8 * bucketCount), bucketCount });
    const { fingerprint, first } = empty.locate(key(2), 0);
    const second = empty.secondBucketOf(first, fingerprint);
    expect(second).not.toBe(first);
    for (let place = 0; place < 4 * bucketCount; place++) {
      const data = new Uint8Array(8 * bucketCount);
      data.set([fingerprint & 0xff, fingerprint >> 8], 2 * place);
      const bucket = Math.floor(place / 4);
      const has = new CuckooFilter({ ...none, data, bucketCount }).has(key(2), 0);
      expect([place, has]).toEqual([place, bucket === first || bucket === second]);
    }
  });

  it('keeps what it was made of, whatever becomes of the message', () => {
    const data = new Uint8Array(8);
    const empty = new CuckooFilter({ ...none, data });
    const { fingerprint } = empty.locate(key(1), 0);
    data.set([fingerprint & 0xff, fingerprint >> 8], 4);
    const filter = new CuckooFilter({ ...none, data });
    data.fill(0);
    expect([empty.has(key(1), 0), filter.has(key(1), 0)]).toEqual([false, true]);
  });

  it.each([
    ['unsupported cuckoo hash algorithm 1', { hashAlgorithm: 1 }],
    ['cuckoo entriesPerBucket should be 4, got 5', { entriesPerBucket: 5 }],
    ['cuckoo fingerprintBits should be 16, got 8', { fingerprintBits: 8 }],
    ['cuckoo bucketCount should be a non-zero power of two, got 3', { bucketCount: 3 }],
    ['cuckoo data length should be 16 bytes, got 8', { bucketCount: 2 }],
  ])('is refused: %s', (fault, change) => {
    expect(() => new CuckooFilter({ ...none, ...change })).toThrow(
      new GrpcError('INVALID_ARGUMENT', `failed to create filter: ${fault}`),
    );
  });
});

describe('its hash', () => {
  it('is SipHash-2-4: the same in 64 bits', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.bigInt(0n, 2n ** 64n - 1n),
        (bytes, seed) => {
          const hash = new SipHash(seed);
          hash.key(bytes, 0, 32);
          const input = Uint8Array.from([32, 0, 0, 0, 0, 0, 0, 0, ...bytes]);
          const expected = sipHash(seed, input);
          expect((BigInt(hash.high) << 32n) | BigInt(hash.low)).toBe(expected);
        },
      ),
    );
  });
});

/** The algorithm as it is written down, with numbers of 64 bits. */
function sipHash(k0: bigint, input: Uint8Array): bigint {
  const U64 = 2n ** 64n - 1n;
  const left = (v: bigint, bits: bigint): bigint => ((v << bits) | (v >> (64n - bits))) & U64;
  const k1 = left(k0, 32n);
  let [v0, v1] = [k0 ^ 0x736f6d6570736575n, k1 ^ 0x646f72616e646f6dn];
  let [v2, v3] = [k0 ^ 0x6c7967656e657261n, k1 ^ 0x7465646279746573n];
  const round = (): void => {
    v0 = (v0 + v1) & U64;
    v1 = left(v1, 13n) ^ v0;
    v0 = left(v0, 32n);
    v2 = (v2 + v3) & U64;
    v3 = left(v3, 16n) ^ v2;
    v0 = (v0 + v3) & U64;
    v3 = left(v3, 21n) ^ v0;
    v2 = (v2 + v1) & U64;
    v1 = left(v1, 17n) ^ v2;
    v2 = left(v2, 32n);
  };
  const padded = new Uint8Array(Math.ceil((input.length + 1) / 8) * 8);
  padded.set(input);
  padded[padded.length - 1] = input.length;
  const view = new DataView(padded.buffer);
  for (let at = 0; at < padded.length; at += 8) {
    const m = view.getBigUint64(at, true);
    v3 ^= m;
    round();
    round();
    v0 ^= m;
  }
  v2 ^= 0xffn;
  for (let i = 0; i < 4; i++) round();
  return v0 ^ v1 ^ v2 ^ v3;
}
