import type { Random } from './mutate.ts';

/** @returns whether the input was accepted. Throwing is a finding. */
export type Fuzz = (input: Uint8Array) => boolean | Promise<boolean>;

/** Functions of src/ that read untrusted bytes, with inputs for them. */
export type Target = Readonly<{
  /** Where the bytes come from. */
  from: string;
  /** Sources below src/ whose decoders it runs; one that ends in `/` means every decoder in that folder. */
  covers: readonly string[];
  /** Valid inputs, or nearly. */
  seeds: readonly Uint8Array[];
  /** Generates an input with the shape of a valid one, where mutated seeds do not find enough. */
  generate?: (random: Random) => Uint8Array;
  fuzz: Fuzz;
}>;

export type FuzzTarget = Target & Readonly<{ name: string }>;

export const texts = (list: readonly string[]): Uint8Array[] => list.map((text) => Buffer.from(text));
