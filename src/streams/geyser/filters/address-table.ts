import { ADDRESS_BYTES } from '../../../ledger/address.ts';
import { hashAddress } from './address-hash.ts';
import { AddressSieve } from './address-sieve.ts';

const LEAST_PLACES = 8;
/** Ends a chain. */
const NOWHERE = -1;

/** Whether the same 32 bytes stand at both places. */
export function sameAddress(left: Uint8Array, leftAt: number, right: Uint8Array, rightAt: number): boolean {
  for (let i = 0; i < ADDRESS_BYTES; i++) {
    if (left[leftAt + i] !== right[rightAt + i]) return false;
  }
  return true;
}

/**
 * A map by addresses that are found where they stand in a message, without a string or a copy of them:
 *
 *     #heads   one for each value of hash & mask: the place of the first of its chain
 *     #chains  two for each place: its hash, and the place of the next in its chain or of the next that is free
 *     #keys    32 bytes for each place, and #values beside them
 *
 * There are as many chains as places, so a chain holds one key on average. Most addresses that come by are in no
 * chain, and are let go before their hash is known.
 */
export class AddressTable<Value> {
  #heads = new Int32Array(LEAST_PLACES).fill(NOWHERE);
  #chains = new Int32Array(LEAST_PLACES * 2);
  #keys = new Uint8Array(LEAST_PLACES * ADDRESS_BYTES);
  #values: (Value | undefined)[] = [];
  #sieve = new AddressSieve(LEAST_PLACES);
  /** The first place that is free below `#values.length`. */
  #free = NOWHERE;
  #size = 0;
  /** Keys that the sieve knows and the table does not. */
  #sieveRests = 0;

  get size(): number {
    return this.#size;
  }

  /** What is kept for the 32 bytes from `at` on. */
  get(bytes: Uint8Array, at: number): Value | undefined {
    if (this.#size === 0 || !this.#sieve.mayHave(bytes, at)) return undefined;
    const place = this.#find(bytes, at, hashAddress(bytes, at));
    return place === NOWHERE ? undefined : this.#values[place];
  }

  has(bytes: Uint8Array, at: number): boolean {
    return this.get(bytes, at) !== undefined;
  }

  /** @param value - anything but undefined. */
  set(bytes: Uint8Array, at: number, value: Value): void {
    const hash = hashAddress(bytes, at);
    const found = this.#find(bytes, at, hash);
    if (found !== NOWHERE) {
      this.#values[found] = value;
      return;
    }
    if (this.#size === this.#heads.length) this.#resize(this.#size * 2);
    this.#insert(bytes, at, hash, value);
  }

  delete(bytes: Uint8Array, at: number): boolean {
    const hash = hashAddress(bytes, at);
    const place = this.#find(bytes, at, hash);
    if (place === NOWHERE) return false;
    this.#unlink(place, hash);
    this.#values[place] = undefined;
    this.#chains[place * 2 + 1] = this.#free;
    this.#free = place;
    this.#size -= 1;
    this.#sieveRests += 1;
    const places = this.#heads.length;
    if (places > LEAST_PLACES && this.#size < places / 8) this.#resize(places / 4);
    else if (this.#sieveRests > places) this.#resize(places);
    return true;
  }

  #find(bytes: Uint8Array, at: number, hash: number): number {
    let place = this.#heads[hash & (this.#heads.length - 1)] as number;
    while (place !== NOWHERE) {
      if (this.#chains[place * 2] === hash && sameAddress(this.#keys, place * ADDRESS_BYTES, bytes, at))
        return place;
      place = this.#chains[place * 2 + 1] as number;
    }
    return NOWHERE;
  }

  #insert(bytes: Uint8Array, at: number, hash: number, value: Value): void {
    let place = this.#free;
    if (place === NOWHERE) place = this.#values.length;
    else this.#free = this.#chains[place * 2 + 1] as number;
    for (let i = 0; i < ADDRESS_BYTES; i++) this.#keys[place * ADDRESS_BYTES + i] = bytes[at + i] as number;
    const head = hash & (this.#heads.length - 1);
    this.#chains[place * 2] = hash;
    this.#chains[place * 2 + 1] = this.#heads[head] as number;
    this.#heads[head] = place;
    this.#values[place] = value;
    this.#sieve.add(bytes, at);
    this.#size += 1;
  }

  #unlink(place: number, hash: number): void {
    const head = hash & (this.#heads.length - 1);
    const after = this.#chains[place * 2 + 1] as number;
    let before = this.#heads[head] as number;
    if (before === place) {
      this.#heads[head] = after;
      return;
    }
    while (this.#chains[before * 2 + 1] !== place) before = this.#chains[before * 2 + 1] as number;
    this.#chains[before * 2 + 1] = after;
  }

  #resize(places: number): void {
    const [keys, chains, values] = [this.#keys, this.#chains, this.#values];
    this.#heads = new Int32Array(places).fill(NOWHERE);
    this.#chains = new Int32Array(places * 2);
    this.#keys = new Uint8Array(places * ADDRESS_BYTES);
    this.#values = [];
    this.#sieve = new AddressSieve(places);
    this.#free = NOWHERE;
    this.#size = 0;
    this.#sieveRests = 0;
    values.forEach((value, place) => {
      if (value !== undefined) {
        this.#insert(keys, place * ADDRESS_BYTES, chains[place * 2] as number, value);
      }
    });
  }
}
