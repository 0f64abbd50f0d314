import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';

export const rangeNames = ['15m', '1h', '24h', '7d', '30d', 'custom'] as const;
export type RangeName = (typeof rangeNames)[number];

const DEFAULT_RANGE = '1h';

const HOUR_MS = 3_600_000;

const lengths: Readonly<Record<Exclude<RangeName, 'custom'>, number>> = {
  '15m': HOUR_MS / 4,
  '1h': HOUR_MS,
  '24h': 24 * HOUR_MS,
  '7d': 7 * 24 * HOUR_MS,
  '30d': 30 * 24 * HOUR_MS,
};

const SHORT_MS = HOUR_MS;
const REFETCH_SHORT_MS = 3_000;
const REFETCH_LONG_MS = 30_000;

export type FrameSearch = Readonly<{
  customer?: string | undefined;
  key?: string | undefined;
  range?: RangeName | undefined;
  from?: number | undefined;
  to?: number | undefined;
}>;

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
const timeOf = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;

/** Invalid values are ignored. */
export function readFrameSearch(search: Record<string, unknown>): FrameSearch {
  const from = timeOf(search.from);
  const to = timeOf(search.to);
  const fits = from !== undefined && to !== undefined && from < to;
  const range = rangeNames.find((name) => name === search.range && (name !== 'custom' || fits));
  const customer = textOf(search.customer);
  const key = textOf(search.key);
  return {
    ...(customer === undefined ? {} : { customer }),
    ...(key === undefined ? {} : { key }),
    ...(range === undefined ? {} : { range }),
    ...(range === 'custom' ? { from, to } : {}),
  };
}

export type Range = Readonly<{
  name: RangeName;
  ms: number;
  id: string;
  /** Refetch interval in milliseconds; false for past ranges. */
  refetchMs: number | false;
  bounds: () => { from: number; to: number };
}>;

export function rangeOf(search: FrameSearch): Range {
  const name = search.range ?? DEFAULT_RANGE;
  if (name === 'custom') {
    const { from = 0, to = 0 } = search;
    return { name, ms: to - from, id: `${from}-${to}`, refetchMs: false, bounds: () => ({ from, to }) };
  }
  const ms = lengths[name];
  return {
    name,
    ms,
    id: name,
    refetchMs: ms <= SHORT_MS ? REFETCH_SHORT_MS : REFETCH_LONG_MS,
    bounds: () => {
      const to = Date.now();
      return { from: to - ms, to };
    },
  };
}

export const useFrameSearch = (): FrameSearch => useSearch({ strict: false });

export function useRange(): Range {
  const { range, from, to } = useFrameSearch();
  return useMemo(() => rangeOf({ range, from, to }), [range, from, to]);
}

export function useChangeSearch(): (change: FrameSearch) => void {
  const navigate = useNavigate();
  return useCallback(
    (change) => {
      void navigate({ to: '.', search: (before) => ({ ...before, ...change }), replace: true });
    },
    [navigate],
  );
}
