/**
 * The least of up to three measures: what else the machine does takes nothing of all of them, and a defect something
 * of each. A further one is made only where the last was not below `bound`.
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
