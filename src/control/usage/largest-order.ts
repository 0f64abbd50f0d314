import type { TopSort } from '../api/contract/usage.ts';

/** `traffic`: by requests, then messages. The others leave out groups that have only free notifications. */
export type LargestOrder = Exclude<TopSort, 'p95'> | 'traffic';

type Sums = Readonly<{ name: string; requests: number; errors: number; credits: number; messages: number }>;

const sortedBy = (order: LargestOrder) =>
  order === 'traffic' ? (['requests', 'messages'] as const) : ([order] as const);

/** SQL that selects and sorts the largest of some sums, and `largestOf` for sums in memory. */
export const selectLargest = (order: LargestOrder, limit: number): string =>
  `${order === 'traffic' ? '' : 'where requests > 0 or credits > 0'}
    order by ${sortedBy(order).map((column) => `${column} desc`)}, name limit ${limit}`;

export function largestOf<Group extends Sums>(
  groups: Iterable<Group>,
  order: LargestOrder,
  limit: number,
): Group[] {
  const larger = (a: Group, b: Group): number => {
    for (const column of sortedBy(order)) if (a[column] !== b[column]) return b[column] - a[column];
    return a.name < b.name ? -1 : 1;
  };
  const counted = [...groups].filter(
    ({ requests, credits }) => order === 'traffic' || requests > 0 || credits > 0,
  );
  return counted.sort(larger).slice(0, limit);
}
