import { randomInt } from 'node:crypto';
import { ADDRESS_BYTES } from '../../../solana/address.ts';
import { hashAddress } from './key-hash.ts';

/** Base-2 logarithm of the bits per address. With 16 bits, about 1 in 17 absent addresses passes the filter. */
const BITS_PER_ADDRESS_LOG2 = 4;

/** Hash factor: odd, and random per process. */
const factor = randomInt(2 ** 31) * 2 + 1;

/** Rejects most absent addresses by their first four bytes. Addresses chosen to collide only force a table lookup. */
class AddressBloomFilter {
  readonly #bits: Int32Array;
  readonly #shift: number;

  /** `capacity` is a power of two, at least 8. */
  constructor(capacity: number) {
    const bitsLog2 = Math.min(Math.log2(capacity) + BITS_PER_ADDRESS_LOG2, 32);
    this.#bits = new Int32Array(2 ** (bitsLog2 - 5));
    this.#shift = 32 - bitsLog2;
  }

  add(bytes: Uint8Array, at: number): void {
    const bit = this.#bitOf(bytes, at);
    this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] as number) | (1 << (bit & 31));
  }

  mayContain(bytes: Uint8Array, at: number): boolean {
    const bit = this.#bitOf(bytes, at);
    return (((this.#bits[bit >>> 5] as number) >>> (bit & 31)) & 1) === 1;
  }

  #bitOf(bytes: Uint8Array, at: number): number {
    const first =
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24);
    return Math.imul(first, factor) >>> this.#shift;
  }
}

const MIN_CAPACITY = 8;
const END_OF_CHAIN = -1;

export function sameAddress(left: Uint8Array, leftAt: number, right: Uint8Array, rightAt: number): boolean {
  for (let i = 0; i < ADDRESS_BYTES; i++) {
    if (left[leftAt + i] !== right[rightAt + i]) return false;
  }
  return true;
}

/**
 * Hash map keyed by addresses. Looks up an address within a message without creating a string or a copy. Layout:
 *
 *     #heads   by hash & mask: the first slot of the chain
 *     #chains  per slot: the hash, and the next slot in the chain or in the free list
 *     #keys    32 bytes per slot, parallel to #values
 *
 * There are as many chains as slots, so chains have at most one key on average. Most absent addresses are rejected
 * before hashing.
 */
export class AddressTable<Value> {
  #heads = new Int32Array(MIN_CAPACITY).fill(END_OF_CHAIN);
  #chains = new Int32Array(MIN_CAPACITY * 2);
  #keys = new Uint8Array(MIN_CAPACITY * ADDRESS_BYTES);
  #values: (Value | undefined)[] = [];
  #bloomFilter = new AddressBloomFilter(MIN_CAPACITY);
  /** First slot of the free list. Free slots are below `#values.length`. */
  #free = END_OF_CHAIN;
  #size = 0;
  /** Number of removed keys that are still in the Bloom filter. */
  #staleBloomEntries = 0;

  get size(): number {
    return this.#size;
  }

  /** @param at - offset of a 32-byte address. */
  get(bytes: Uint8Array, at: number): Value | undefined {
    if (this.#size === 0 || !this.#bloomFilter.mayContain(bytes, at)) return undefined;
    const index = this.#find(bytes, at, hashAddress(bytes, at));
    return index === END_OF_CHAIN ? undefined : this.#values[index];
  }

  has(bytes: Uint8Array, at: number): boolean {
    return this.get(bytes, at) !== undefined;
  }

  set(bytes: Uint8Array, at: number, value: Value): void {
    const hash = hashAddress(bytes, at);
    const found = this.#find(bytes, at, hash);
    if (found !== END_OF_CHAIN) {
      this.#values[found] = value;
      return;
    }
    if (this.#size === this.#heads.length) this.#resize(this.#size * 2);
    this.#insert(bytes, at, hash, value);
  }

  delete(bytes: Uint8Array, at: number): boolean {
    const hash = hashAddress(bytes, at);
    const index = this.#find(bytes, at, hash);
    if (index === END_OF_CHAIN) return false;
    this.#unlink(index, hash);
    this.#values[index] = undefined;
    this.#chains[index * 2 + 1] = this.#free;
    this.#free = index;
    this.#size -= 1;
    this.#staleBloomEntries += 1;
    const capacity = this.#heads.length;
    if (capacity > MIN_CAPACITY && this.#size < capacity / 8) this.#resize(capacity / 4);
    else if (this.#staleBloomEntries > capacity) this.#resize(capacity);
    return true;
  }

  #find(bytes: Uint8Array, at: number, hash: number): number {
    let index = this.#heads[hash & (this.#heads.length - 1)] as number;
    while (index !== END_OF_CHAIN) {
      if (this.#chains[index * 2] === hash && sameAddress(this.#keys, index * ADDRESS_BYTES, bytes, at))
        return index;
      index = this.#chains[index * 2 + 1] as number;
    }
    return END_OF_CHAIN;
  }

  #insert(bytes: Uint8Array, at: number, hash: number, value: Value): void {
    let index = this.#free;
    if (index === END_OF_CHAIN) index = this.#values.length;
    else this.#free = this.#chains[index * 2 + 1] as number;
    for (let i = 0; i < ADDRESS_BYTES; i++) this.#keys[index * ADDRESS_BYTES + i] = bytes[at + i] as number;
    const head = hash & (this.#heads.length - 1);
    this.#chains[index * 2] = hash;
    this.#chains[index * 2 + 1] = this.#heads[head] as number;
    this.#heads[head] = index;
    this.#values[index] = value;
    this.#bloomFilter.add(bytes, at);
    this.#size += 1;
  }

  #unlink(index: number, hash: number): void {
    const head = hash & (this.#heads.length - 1);
    const after = this.#chains[index * 2 + 1] as number;
    let before = this.#heads[head] as number;
    if (before === index) {
      this.#heads[head] = after;
      return;
    }
    while (this.#chains[before * 2 + 1] !== index) before = this.#chains[before * 2 + 1] as number;
    this.#chains[before * 2 + 1] = after;
  }

  #resize(capacity: number): void {
    const [keys, chains, values] = [this.#keys, this.#chains, this.#values];
    this.#heads = new Int32Array(capacity).fill(END_OF_CHAIN);
    this.#chains = new Int32Array(capacity * 2);
    this.#keys = new Uint8Array(capacity * ADDRESS_BYTES);
    this.#values = [];
    this.#bloomFilter = new AddressBloomFilter(capacity);
    this.#free = END_OF_CHAIN;
    this.#size = 0;
    this.#staleBloomEntries = 0;
    values.forEach((value, index) => {
      if (value !== undefined) {
        this.#insert(keys, index * ADDRESS_BYTES, chains[index * 2] as number, value);
      }
    });
  }
}
