import { useEffect, useState } from 'react';

/** Two minutes of samples. */
const SAMPLES_MAX = 60;

export function useRecentValues<Totals extends Readonly<Record<string, number>>>(
  totals: Totals | undefined,
  sampledAt: number,
): (name: keyof Totals) => readonly number[] {
  const [samples, setSamples] = useState<readonly Totals[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs on every sample, even without changes
  useEffect(() => {
    if (totals !== undefined) setSamples((before) => [...before.slice(1 - SAMPLES_MAX), totals]);
  }, [sampledAt]);
  return (name) => samples.map((sample) => sample[name] ?? 0);
}
