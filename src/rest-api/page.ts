import { z } from 'zod';
import { whole } from './fields.ts';

/** The last page that can be asked for; pages beyond the end are empty. */
const PAGE_MAX = 1_000_000;

/** The fields `page` and `size` of what comes in pages. */
export const pageFields = (size: number, sizeMax: number) => ({
  page: whole(1, PAGE_MAX, 1, 'Which page, from 1. A page beyond the end is empty.'),
  size: whole(1, sizeMax, size, 'How many on a page.'),
});

/** The members of a result that say which page of how many it is. */
export const pageResult = {
  page: z.number().int(),
  size: z.number().int(),
  total_count: z.number().int().meta({ description: 'How many there are on all pages.' }),
  total_pages: z.number().int(),
};

/** A page of a list, and what `pageResult` tells of it. */
export function pageOf<Item>(
  items: readonly Item[],
  page: number,
  size: number,
): Readonly<{
  items: readonly Item[];
  about: { page: number; size: number; total_count: number; total_pages: number };
}> {
  const from = (page - 1) * size;
  return {
    items: items.slice(from, from + size),
    about: { page, size, total_count: items.length, total_pages: Math.ceil(items.length / size) },
  };
}
