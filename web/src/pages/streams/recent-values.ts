import { useEffect, useState } from 'react';

/** Looks that are remembered: two minutes. */
const SAMPLES_MAX = 60;

/** What numbers were at the last looks, as long as this page is open, for lines behind them. */
export function useRecentValues<Totals extends Readonly<Record<string, number>>>(
  totals: Totals | undefined,
  sampledAt: number,
): (name: keyof Totals) => readonly number[] {
  const [samples, setSamples] = useState<readonly Totals[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once a look, also where nothing changed
  useEffect(() => {
    if (totals !== undefined) setSamples((before) => [...before.slice(1 - SAMPLES_MAX), totals]);
  }, [sampledAt]);
  return (name) => samples.map((sample) => sample[name] ?? 0);
}
