import { useCallback } from 'react';
import { useChangeSearch } from '../range.ts';

/** Minimum zoom range. */
const STRETCH_LEAST_MS = 60_000;

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
