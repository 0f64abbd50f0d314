import { sql } from 'kysely';
import { pagesOf } from '../database/rows.ts';
import type { Store } from '../database/store.ts';
import {
  type Axis,
  partOf,
  type Segment,
  segmentsOf,
  stepMs,
  type UsageFilter,
  type UsageQuery,
  type UsageSum,
} from './read-usage.ts';
import { counterColumns, counterSums } from './usage-sums.ts';

type ExportedUsage = Omit<UsageSum<'key_id' | 'product' | 'method' | 'status'>, 'at' | 'last_minute'> & {
  /** Number of steps since 1970. */
  bucket: number;
};

const PAGE_ROWS = 1_000;

/** Groups segments by bucket, so that a bucket has one row per key, product, method and status. */
async function segmentsByBucket({ db }: Store, axis: Axis): Promise<Map<number, Segment[]>> {
  const byBucket = new Map<number, Segment[]>();
  for (const segment of await segmentsOf(db, 'detail', axis)) {
    const factor = stepMs[axis.step] / stepMs[segment.step];
    for (let from = segment.from; from < segment.to; ) {
      const bucket = Math.floor(from / factor);
      const to = Math.min(segment.to, (bucket + 1) * factor);
      byBucket.set(bucket, [...(byBucket.get(bucket) ?? []), { ...segment, from, to }]);
      from = to;
    }
  }
  return byBucket;
}

const names = sql.raw('key_id, product, method, status');
const columns = sql`${names}, ${sql.raw(counterColumns.join(', '))}`;

function selectSegment(segment: Segment, filter: UsageFilter) {
  const table = `usage_${segment.step}` as const;
  return sql`select ${columns} from ${sql.table(table)} where ${partOf(table, segment, filter).where}`;
}

/** Yields all rows of an axis page by page, to bound memory use. */
export async function* exportUsage(
  store: Store,
  { axis, filter }: UsageQuery,
): AsyncGenerator<ExportedUsage[]> {
  for (const [bucket, segments] of await segmentsByBucket(store, axis)) {
    const from = sql.join(
      segments.map((segment) => selectSegment(segment, filter)),
      sql` union all `,
    );
    yield* pagesOf<ExportedUsage>(PAGE_ROWS, async (last) => {
      const afterLastRow =
        last === null
          ? sql``
          : sql`where (${names}) > (${last.key_id}, ${last.product}, ${last.method}, ${last.status})`;
      const { rows } = await sql<Omit<ExportedUsage, 'bucket'>>`
        select ${names}, ${counterSums} from (${from}) as part ${afterLastRow}
        group by ${names} order by ${names} limit ${PAGE_ROWS}`.execute(store.db);
      return rows.map((row) => ({ bucket, ...row }));
    });
  }
}
