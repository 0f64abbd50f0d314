import { createHash } from 'node:crypto';

/** Returns repeatable random numbers from 0 to 1. */
export type Random = () => number;

/** Source: mulberry32 by Tommy Ettinger (public domain). */
export function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number below `count`, where the number n is about 1 / (n + 1) as frequent as 0 (Zipf). */
export const skewed = (random: Random, count: number): number =>
  Math.min(count - 1, Math.floor((count + 1) ** random()) - 1);

/** A whole number below `count`. */
export const below = (random: Random, count: number): number => Math.floor(random() * count);

export const oneOf = <Item>(random: Random, items: readonly Item[]): Item =>
  items[below(random, items.length)] as Item;

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

export function base58(random: Random, length: number): string {
  let text = '';
  for (let at = 0; at < length; at++) text += BASE58[below(random, BASE58.length)];
  return text;
}

/** Repeatable hex text for a name. */
export const hexOf = (name: string, length: number): string =>
  createHash('sha256').update(name).digest('hex').slice(0, length);
