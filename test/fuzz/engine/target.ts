import type { Random } from './mutate.ts';

/**
 * What a file of test/fuzz exports as `fuzz`.
 * @returns whether the input was accepted; a rejection is `false`. Throwing is a finding.
 */
export type Fuzz = (input: Uint8Array) => boolean | undefined | Promise<boolean | undefined>;

/** Makes an input that has the shape of a good one. */
export type Generate = (random: Random) => Uint8Array;

/** A file of test/fuzz as its exports say. */
export type FuzzTarget = Readonly<{
  name: string;
  fuzz: Fuzz;
  seeds: readonly Uint8Array[];
  /** Sources below src/ whose decoders it runs; one that ends in `/` stands for every decoder in that folder. */
  covers: readonly string[];
  /** Whom the bytes come from, in a few words. */
  from: string;
  /** null where mutated seeds find enough. */
  generate: Generate | null;
}>;

type Exports = Readonly<Partial<Record<'fuzz' | 'seeds' | 'covers' | 'from' | 'generate', unknown>>>;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** The target in a module's exports. @throws TypeError naming what is missing. */
export function targetOf(name: string, exports: Exports): FuzzTarget {
  const { fuzz, seeds, covers, from, generate = null } = exports;
  const need = (has: boolean, what: string): void => {
    if (!has) throw new TypeError(`${name} exports no ${what}`);
  };
  need(typeof fuzz === 'function', 'function `fuzz`');
  need(Array.isArray(seeds) && seeds.every((seed) => seed instanceof Uint8Array), 'bytes as `seeds`');
  need(Array.isArray(covers) && covers.length > 0 && covers.every(isText), 'paths below src/ as `covers`');
  need(isText(from), 'text `from`');
  return {
    name,
    fuzz: fuzz as Fuzz,
    seeds: seeds as readonly Uint8Array[],
    covers: covers as readonly string[],
    from: from as string,
    generate: generate as Generate | null,
  };
}
