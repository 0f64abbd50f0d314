import type { Failure } from '../../protocol/errors.ts';

/** Failure of a call; null for a response. */
export type Ending = Failure | null;

export const statusOfSingle = (ending: Ending): number => ending?.row.http ?? 200;

/**
 * The failure shared by all calls of a batch, if it has an HTTP status of its own: a client that is refused altogether
 * gets 401 or 429 as for a single call. null otherwise, which is a 200.
 */
export function sharedFailure(endings: readonly Ending[]): Failure | null {
  const first = endings[0];
  if (first === undefined || first === null || first.row.http === 200) return null;
  return endings.every((ending) => ending?.code === first.code) ? first : null;
}
