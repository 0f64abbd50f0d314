import type { RawAccount } from '../../../protocol/geyser/raw-update.ts';
import type { AccountEqualities } from '../filters/account-data-rule.ts';
import { hashBytes, hashNumber, NUMBER_PIECES, piecesOf, randomHash } from '../filters/key-hash.ts';

/** Which bytes of the data, and how many pieces of the key are before them. */
type Part = Readonly<{ at: number; length: number; piece: number }>;

/** Equal for filters that ask the same of an account to be equal, to whatever. */
export const shapeText = ({ memcmps, dataSize, lamports }: AccountEqualities): string =>
  `${memcmps.map(({ at, bytes }) => `${at}+${bytes.length}`)} ${dataSize !== null} ${lamports !== null}`;

let shapes = 0;

/**
 * What filters ask to be equal, without what it is equal to: what their keys are made of. A key is not kept, only its
 * hash: whoever finds a filter by it looks at the account itself.
 */
export class KeyShape {
  /** Shapes are numbered as they are made. */
  readonly number = ++shapes;
  readonly text: string;
  /** How far into the data it looks: shorter data has no key. */
  readonly end: number;
  readonly #parts: readonly Part[];
  readonly #pieces: number;
  readonly #hasSize: boolean;
  readonly #hasLamports: boolean;
  /** Keys of two shapes are not to meet. */
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

  /** The hash of the key that an account has, whose data reaches to the end of the shape. */
  hashOf({ data, lamports }: RawAccount): number {
    let hash = this.#first;
    for (const { at, length, piece } of this.#parts) hash = hashBytes(hash, piece, data, at, length);
    return this.#finishHash(hash, data.length, lamports);
  }

  /** The hash of the key that a filter of the shape asks for. */
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

/** A shape, which all owners share, and how many lists have it. */
export type SharedShape = { readonly shape: KeyShape; uses: number };

/** A shape that filters of one owner have, and how many of them do. */
type ShapeUse = { readonly shape: KeyShape; filters: number };

const order = (left: KeyShape, right: KeyShape): number => left.end - right.end || left.number - right.number;

/** The shapes that filters of one owner have, those first that look least far into the data. */
export class ShapeList {
  #uses: ShapeUse[] = [];

  get shapes(): readonly Readonly<ShapeUse>[] {
    return this.#uses;
  }

  get isEmpty(): boolean {
    return this.#uses.length === 0;
  }

  /** One more filter has a shape. */
  use(shared: SharedShape): void {
    const at = this.#indexOf(shared.shape);
    const use = this.#uses[at];
    if (use?.shape === shared.shape) {
      use.filters += 1;
      return;
    }
    const first = { shape: shared.shape, filters: 1 };
    // Most owners have one shape, and a list that grows takes room for many.
    if (this.isEmpty) this.#uses = [first];
    else this.#uses.splice(at, 0, first);
    shared.uses += 1;
  }

  /** A filter that had a shape is gone. */
  release(shared: SharedShape): void {
    const at = this.#indexOf(shared.shape);
    const use = this.#uses[at];
    if (use?.shape !== shared.shape || --use.filters > 0) return;
    this.#uses.splice(at, 1);
    shared.uses -= 1;
  }

  /** Where a shape is, or would be. */
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
