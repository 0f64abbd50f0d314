/**
 * What a file of test/fuzz exports: a function `fuzz` (or exactly one function), and perhaps `seeds`.
 * @returns whether the input was accepted; a rejection is `false`. Throwing is a finding.
 */
export type Fuzz = (input: Uint8Array) => boolean | undefined | Promise<boolean | undefined>;

export type FuzzTarget = Readonly<{ fuzz: Fuzz; seeds: readonly Uint8Array[] }>;

/** The target in a module's exports. */
export function targetOf(exports: { readonly fuzz?: unknown; readonly seeds?: unknown }): FuzzTarget {
  const functions = Object.values(exports).filter((value) => typeof value === 'function');
  const fuzz = exports.fuzz ?? (functions.length === 1 ? functions[0] : undefined);
  if (typeof fuzz !== 'function') throw new TypeError('a fuzz target exports a function named fuzz');
  const seeds = Array.isArray(exports.seeds) ? (exports.seeds as Uint8Array[]) : [];
  return { fuzz: fuzz as Fuzz, seeds };
}
