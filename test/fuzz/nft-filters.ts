import { attributesFilter, hasAttributes, royaltyFilter } from '../../src/rest-api/nft/nft-filters.ts';

export const from = 'clients';
export const covers = ['rest-api/nft/nft-filters.ts'];

const attributes = attributesFilter();
const royalty = royaltyFilter();
const values = { energy: '10', level: 7n, kind: 'even', shiny: true, none: null };

export const seeds = [
  '{"energy":{"gte":"10","lt":1e3},"kind":"even"}',
  '{"level":{"gt":5},"__proto__":{"lte":".5"}}',
  '{"gte":5,"lte":10}',
  '5.55',
  '"7"',
].map((text) => Buffer.from(text));

/** Whatever a caller sends for a filter, it is a test that answers, or a problem in words. */
export function fuzz(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString();
  const [byTrait, byRoyalty] = [attributes.safeParse(text), royalty.safeParse(text)];
  for (const { error } of [byTrait, byRoyalty]) {
    if (error && !error.issues[0]?.message) throw new Error('a problem without words');
  }
  if (byTrait.data && typeof hasAttributes(values, byTrait.data) !== 'boolean') throw new Error('no answer');
  if (byRoyalty.data && typeof byRoyalty.data(5) !== 'boolean') throw new Error('no answer');
  return byTrait.success || byRoyalty.success;
}
