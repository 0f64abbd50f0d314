import type { Failure } from '../../protocol/errors.ts';

/** How one call of a body ended, as far as the HTTP status is concerned. null: it was answered. */
export type Ending = Failure | null;

/** HTTP status of a body with one call. */
export const statusOfSingle = (ending: Ending): number => ending?.row.http ?? 200;

/**
 * The failure that a whole batch shares: every call ended with the same row and that row has a status of its
 * own. A client that is refused altogether sees 401 or 429 as it would for one call. null in all other cases,
 * which are 200.
 */
export function sharedFailure(endings: readonly Ending[]): Failure | null {
  const first = endings[0];
  if (first === undefined || first === null || first.row.http === 200) return null;
  return endings.every((ending) => ending?.code === first.code) ? first : null;
}
