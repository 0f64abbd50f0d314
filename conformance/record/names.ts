import { createHash } from 'node:crypto';
import { decodeBase58 } from '../../src/solana/base58.ts';

/**
 * Names for values that differ from ledger to ledger (signatures, blockhashes, random addresses), and for the actors'
 * addresses, which do not. In text a value becomes `<kind:name>` or, for addresses, `<name>`.
 */
export type NameKind = 'signature' | 'blockhash' | 'nonce' | 'hash' | 'address' | 'actor';

const BASE58_RUN = /[1-9A-HJ-NP-Za-km-z]{32,88}/g;

export class Names {
  readonly #byValue = new Map<string, string>();
  readonly #addresses = new Map<string, string>();
  readonly #slots = new Map<number, string>();
  /** Values within binary data, with the bytes that replace them. */
  readonly #bytes: (readonly [value: Buffer, replacement: Buffer])[] = [];

  /** The first name of a value counts. */
  add(kind: NameKind, name: string, value: string): void {
    if (this.#byValue.has(value)) return;
    if (kind === 'address') this.#addresses.set(name, value);
    this.#byValue.set(value, kind === 'actor' || kind === 'address' ? `<${name}>` : `<${kind}:${name}>`);
    if (kind === 'actor') return;
    const bytes = Buffer.from(decodeBase58(value) ?? []);
    const replacement = createHash('sha512').update(`${kind} ${name}`).digest();
    this.#bytes.push([bytes, replacement.subarray(0, bytes.length)]);
  }

  /** Of a random address; undefined for actors. */
  addressOf(name: string): string | undefined {
    return this.#addresses.get(name);
  }

  addSlot(name: string, slot: number): void {
    this.#slots.set(slot, name);
  }

  /** `<slot:name>` for the slot of a step. */
  slot(slot: number): string {
    const name = this.#slots.get(slot);
    return name === undefined ? '<slot>' : `<slot:${name}>`;
  }

  /** Replaces all known values in a text. */
  replaceIn(text: string): string {
    return text.replace(BASE58_RUN, (run) => this.#byValue.get(run) ?? run);
  }

  /** Replaces all known values in binary data by bytes that depend on their names only. */
  replaceBytes(data: Buffer): Buffer {
    const copy = Buffer.from(data);
    for (const [value, replacement] of this.#bytes) {
      for (let at = copy.indexOf(value); at >= 0; at = copy.indexOf(value, at + value.length)) {
        replacement.copy(copy, at);
      }
    }
    return copy;
  }
}
