/**
 * The same things, beginning with another in each round: what goes on beside the measuring, or lingers from what was
 * measured before, meets each of them alike.
 */
export const rotated = <Item>(items: readonly Item[], round: number): Item[] =>
  items.map((_, index) => items[(index + round) % items.length] as Item);
