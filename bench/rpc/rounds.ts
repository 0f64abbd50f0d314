/**
 * Starts with another item in each round, so that side effects of earlier measurements affect all items equally.
 */
export const rotated = <Item>(items: readonly Item[], round: number): Item[] =>
  items.map((_, index) => items[(index + round) % items.length] as Item);
