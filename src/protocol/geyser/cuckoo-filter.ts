import { SipHash } from '../../solana/sip-hash.ts';
import { GrpcError } from '../grpc/status.ts';
import type { CuckooFilterMessage } from './subscribe-request.ts';

const ENTRIES_PER_BUCKET = 4;
const FINGERPRINT_BITS = 16;
const ENTRY_BYTES = FINGERPRINT_BITS / 8;
const SIP_HASH = 0;
const KEY_BYTES = 32;

/** The error texts match those of the published client, which validates before sending. */
function validationError(message: CuckooFilterMessage): string | null {
  const { data, bucketCount, entriesPerBucket, fingerprintBits, hashAlgorithm } = message;
  if (hashAlgorithm !== SIP_HASH) return `unsupported cuckoo hash algorithm ${hashAlgorithm}`;
  if (entriesPerBucket !== ENTRIES_PER_BUCKET)
    return `cuckoo entriesPerBucket should be ${ENTRIES_PER_BUCKET}, got ${entriesPerBucket}`;
  if (fingerprintBits !== FINGERPRINT_BITS)
    return `cuckoo fingerprintBits should be ${FINGERPRINT_BITS}, got ${fingerprintBits}`;
  if (bucketCount === 0 || (bucketCount & (bucketCount - 1)) !== 0)
    return `cuckoo bucketCount should be a non-zero power of two, got ${bucketCount}`;
  const expected = bucketCount * ENTRIES_PER_BUCKET * ENTRY_BYTES;
  if (data.length !== expected) return `cuckoo data length should be ${expected} bytes, got ${data.length}`;
  return null;
}

/** Shared to avoid an allocation per update. */
const sharedLocation = { fingerprint: 0, first: 0 };

/**
 * Probabilistic set of addresses: it may report false positives. Source: yellowstone-grpc-proto, `CuckooFilter`.
 * Each address has a 16-bit fingerprint in one of two buckets. The fingerprint and the first bucket are parts of the
 * address's hash; the second bucket is the first XOR the hash of the fingerprint.
 */
export class CuckooFilter {
  readonly #data: Uint8Array;
  readonly #mask: number;
  readonly #hash: SipHash;

  /** Copies the data. @throws GrpcError INVALID_ARGUMENT for invalid parameters. */
  constructor(message: CuckooFilterMessage) {
    const error = validationError(message);
    if (error !== null) throw new GrpcError('INVALID_ARGUMENT', `failed to create filter: ${error}`);
    this.#data = Uint8Array.from(message.data);
    this.#mask = message.bucketCount - 1;
    this.#hash = new SipHash(message.hashSeed);
  }

  has(bytes: Uint8Array, offset: number): boolean {
    const { fingerprint, first } = this.locate(bytes, offset);
    return (
      this.#hasFingerprint(first, fingerprint) ||
      this.#hasFingerprint(this.secondBucketOf(first, fingerprint), fingerprint)
    );
  }

  /** @returns a shared object that the next call overwrites. */
  locate(bytes: Uint8Array, offset: number): Readonly<{ fingerprint: number; first: number }> {
    this.#hash.key(bytes, offset, KEY_BYTES);
    // 0 marks an empty entry, so a fingerprint of 0 becomes 1.
    sharedLocation.fingerprint = this.#hash.high & 0xffff || 1;
    sharedLocation.first = (this.#hash.low & this.#mask) >>> 0;
    return sharedLocation;
  }

  secondBucketOf(first: number, fingerprint: number): number {
    this.#hash.u16(fingerprint);
    return (first ^ (this.#hash.low & this.#mask)) >>> 0;
  }

  #hasFingerprint(bucket: number, fingerprint: number): boolean {
    const start = bucket * ENTRIES_PER_BUCKET * ENTRY_BYTES;
    const end = start + ENTRIES_PER_BUCKET * ENTRY_BYTES;
    const [low, high] = [fingerprint & 0xff, fingerprint >> 8];
    for (let at = start; at < end; at += ENTRY_BYTES) {
      if (this.#data[at] === low && this.#data[at + 1] === high) return true;
    }
    return false;
  }
}
