import { useCallback } from 'react';
import { useChangeSearch } from '../range.ts';

/** No stretch is shorter. */
const STRETCH_LEAST_MS = 60_000;

/** What a chart does when a stretch was drawn over: it becomes the page's, in the URL. */
export function useZoom(): (from: number, to: number) => void {
  const change = useChangeSearch();
  return useCallback(
    (from, to) =>
      change({
        range: 'custom',
        from: Math.round(from),
        to: Math.round(Math.max(to, from + STRETCH_LEAST_MS)),
      }),
    [change],
  );
}
