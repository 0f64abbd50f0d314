import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';

/** The stretch of time that a page shows. It stands in the URL and goes along from page to page. */
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

/** Stretches up to this long are asked for again each REFETCH_SHORT_MS. */
const SHORT_MS = HOUR_MS;
const REFETCH_SHORT_MS = 3_000;
const REFETCH_LONG_MS = 30_000;

/** What stands in the URL of every page. */
export type FrameSearch = Readonly<{
  customer?: string | undefined;
  /** A key to which pages are narrowed, by its id. */
  key?: string | undefined;
  range?: RangeName | undefined;
  /** Unix milliseconds, of the range `custom`. */
  from?: number | undefined;
  to?: number | undefined;
}>;

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
const timeOf = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;

/** Reads them; what does not fit is as if it were not there. */
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
  /** Length in milliseconds. */
  ms: number;
  /** Names the stretch for the cache of answers. */
  id: string;
  /** How often to ask again, in milliseconds; false: what is past does not change. */
  refetchMs: number | false;
  /** From and to as of now, in Unix milliseconds. */
  bounds: () => { from: number; to: number };
}>;

/** A range by what stands in the URL. */
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

/** What stands in the URL of this page. */
export const useFrameSearch = (): FrameSearch => useSearch({ strict: false });

export function useRange(): Range {
  const { range, from, to } = useFrameSearch();
  return useMemo(() => rangeOf({ range, from, to }), [range, from, to]);
}

/** Changes what stands in the URL, and stays on the page. */
export function useChangeSearch(): (change: FrameSearch) => void {
  const navigate = useNavigate();
  return useCallback(
    (change) => {
      void navigate({ to: '.', search: (before) => ({ ...before, ...change }), replace: true });
    },
    [navigate],
  );
}
