import type { TopSort } from '../api/contract/usage.ts';
import { type GroupColumn, percentilesOf, type UsageQuery } from './read-usage.ts';
import type { TopRow, UsageReader } from './usage-reader.ts';
import { addLatency, emptyLatencyHistogram } from './usage-sums.ts';

/** When sorting by latency, only so many groups with the most requests are compared. */
const COMPARED_MAX = 100;

/** The largest groups by a column, largest first; one more than `limit` if there are more. */
export async function readTop(
  usage: UsageReader,
  query: UsageQuery,
  column: GroupColumn,
  sort: TopSort,
  limit: number,
): Promise<TopRow[]> {
  const largest =
    sort === 'p95'
      ? await usage.readLargest(query, column, 'requests', COMPARED_MAX)
      : await usage.readLargest(query, column, sort, limit + 1);
  const latencies = new Map(largest.map(({ name }) => [name, emptyLatencyHistogram()]));
  const values = [...latencies.keys()];
  if (largest.length > 0)
    await usage.readLatencies(query, { column, values }, (row) => {
      const sum = latencies.get(row.name);
      if (sum !== undefined) addLatency(sum, row.latency);
    });
  const rows = largest.map(({ messages: _, ...row }) => ({
    ...row,
    latency: percentilesOf(latencies.get(row.name) ?? []),
  }));
  if (sort !== 'p95') return rows;
  return rows.sort((a, b) => (b.latency.p95 ?? -1) - (a.latency.p95 ?? -1)).slice(0, limit + 1);
}
