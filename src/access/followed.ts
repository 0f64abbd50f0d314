/** So often a name is told of after it was last asked for: what others took meanwhile is heard of with it. */
const TELLINGS = 10;

/** Names that asked lately, each in its turn. */
export class Followed {
  readonly #namesMax: number;
  /** How often each is still to be told of. */
  readonly #tellings = new Map<string, number>();

  /** @param namesMax - names beyond it are not followed. */
  constructor(namesMax: number) {
    this.#namesMax = namesMax;
  }

  /** The name has asked just now. */
  add(name: string): void {
    if (this.#tellings.size < this.#namesMax || this.#tellings.has(name)) this.#tellings.set(name, TELLINGS);
  }

  /** The names whose turn it is, at most so many. */
  next(most: number): string[] {
    const names: string[] = [];
    for (const name of this.#tellings.keys()) {
      if (names.length >= most) break;
      names.push(name);
    }
    for (const name of names) this.#pass(name);
    return names;
  }

  /** Puts a name behind all others, or takes it out. */
  #pass(name: string): void {
    const left = (this.#tellings.get(name) ?? 0) - 1;
    this.#tellings.delete(name);
    if (left > 0) this.#tellings.set(name, left);
  }
}
