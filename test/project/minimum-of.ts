/**
 * Minimum of up to three measurements: other load on the machine rarely slows all of them, but a defect does.
 * Measures again only while the minimum is not below `bound`.
 */
export function minimumOf(bound: number, measure: () => number): number {
  let least = measure();
  for (let more = 0; more < 2 && least >= bound; more++) least = Math.min(least, measure());
  return least;
}

export function msOf(work: () => unknown): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}
