import type { RawAccount } from '../../../protocol/geyser/raw-update.ts';
import type { AccountEqualities } from '../filters/account-data-rule.ts';
import { hashBytes, hashNumber, NUMBER_PIECES, piecesOf, randomHash } from '../filters/key-hash.ts';

/** A compared range of the data, and the number of key pieces before it. */
type Part = Readonly<{ at: number; length: number; piece: number }>;

/** Equal for filters that compare the same fields, whatever the values. */
export const shapeText = ({ memcmps, dataSize, lamports }: AccountEqualities): string =>
  `${memcmps.map(({ at, bytes }) => `${at}+${bytes.length}`)} ${dataSize !== null} ${lamports !== null}`;

let shapes = 0;

/**
 * The fields that a filter compares for equality, without their values: the structure of its index key. Only
 * the hash of a key is stored, so a match must be checked with the account itself.
 */
export class KeyShape {
  /** Sequence number of the shape. */
  readonly number = ++shapes;
  readonly text: string;
  /** End of the compared data; shorter data has no key. */
  readonly end: number;
  readonly #parts: readonly Part[];
  readonly #pieces: number;
  readonly #hasSize: boolean;
  readonly #hasLamports: boolean;
  /** Random start value, so that keys of two shapes differ. */
  readonly #first = randomHash();

  constructor(equalities: AccountEqualities) {
    let piece = 0;
    this.#parts = equalities.memcmps.map(({ at, bytes: { length } }) => {
      const part = { at, length, piece };
      piece += piecesOf(length);
      return part;
    });
    this.text = shapeText(equalities);
    this.end = Math.max(0, ...this.#parts.map(({ at, length }) => at + length));
    this.#pieces = piece;
    this.#hasSize = equalities.dataSize !== null;
    this.#hasLamports = equalities.lamports !== null;
  }

  /** Hash of an account's key. Its data must reach to `end`. */
  hashOf({ data, lamports }: RawAccount): number {
    let hash = this.#first;
    for (const { at, length, piece } of this.#parts) hash = hashBytes(hash, piece, data, at, length);
    return this.#finishHash(hash, data.length, lamports);
  }

  /** Hash of a filter's key. */
  hashOfFilter({ memcmps, dataSize, lamports }: AccountEqualities): number {
    let hash = this.#first;
    for (const [nth, { bytes }] of memcmps.entries())
      hash = hashBytes(hash, (this.#parts[nth] as Part).piece, bytes, 0, bytes.length);
    return this.#finishHash(hash, dataSize ?? 0, lamports ?? 0n);
  }

  #finishHash(before: number, size: number, lamports: bigint): number {
    let hash = before;
    if (this.#hasSize) hash = hashNumber(hash, this.#pieces, size);
    if (this.#hasLamports) hash = hashNumber(hash, this.#pieces + NUMBER_PIECES, Number(lamports));
    return hash;
  }
}

/** A shape shared by all owners, and the number of lists that contain it. */
export type SharedShape = { readonly shape: KeyShape; uses: number };

/** A shape of one owner's filters, and their number. */
type ShapeUse = { readonly shape: KeyShape; filters: number };

const order = (left: KeyShape, right: KeyShape): number => left.end - right.end || left.number - right.number;

/** The shapes of one owner's filters, ordered by `end`. */
export class ShapeList {
  #uses: ShapeUse[] = [];

  get shapes(): readonly Readonly<ShapeUse>[] {
    return this.#uses;
  }

  get isEmpty(): boolean {
    return this.#uses.length === 0;
  }

  /** Adds a filter with the shape. */
  use(shared: SharedShape): void {
    const at = this.#indexOf(shared.shape);
    const use = this.#uses[at];
    if (use?.shape === shared.shape) {
      use.filters += 1;
      return;
    }
    const first = { shape: shared.shape, filters: 1 };
    // Most owners have one shape, and a growing list allocates capacity for many.
    if (this.isEmpty) this.#uses = [first];
    else this.#uses.splice(at, 0, first);
    shared.uses += 1;
  }

  /** Removes a filter with the shape. */
  release(shared: SharedShape): void {
    const at = this.#indexOf(shared.shape);
    const use = this.#uses[at];
    if (use?.shape !== shared.shape || --use.filters > 0) return;
    this.#uses.splice(at, 1);
    shared.uses -= 1;
  }

  /** Index of a shape, or where it would be inserted. */
  #indexOf(shape: KeyShape): number {
    let [from, to] = [0, this.#uses.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (order((this.#uses[middle] as ShapeUse).shape, shape) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
