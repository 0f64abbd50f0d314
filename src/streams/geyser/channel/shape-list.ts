import type { KeyShape } from './key-shape.ts';

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
