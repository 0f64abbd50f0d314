/** A count as a person reads it: 12,345. */
export const countText = (count: number): string => count.toLocaleString('en');
