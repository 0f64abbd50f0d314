import type { ClickHouse } from '../../clickhouse/client.ts';
import type { ClickHouseTables } from '../../clickhouse/tables.ts';
import type { Store } from '../../database/store.ts';
import { type MarkKind, usageSteps } from '../../database/tables/usage.ts';
import { stepMs } from '../read-usage.ts';
import { dayOf, finishRollUp, type RollUp, rollUpSources } from '../roll-up.ts';
import { readMarks, retentionStarts, type StaleBucket } from '../usage-rows.ts';
import { counterColumns } from '../usage-sums.ts';
import { dimensionColumns, levels, tableOf } from './usage-tables.ts';

type CoarseStep = 'hour' | 'day';

/** The levels of the rows that are summed: minutes have none, so each row counts for all. */
const sourceLevels: Readonly<Record<CoarseStep, string>> = {
  hour: `arrayJoin([${Object.values(levels).join(', ')}]) as level`,
  day: 'level',
};

/** Levels that have a dimension; absent: all have it. */
const levelsWith: Readonly<Record<string, string>> = {
  epoch: `level = ${levels.fleet}`,
  customer_id: `level >= ${levels.customer}`,
  key_id: `level = ${levels.detail}`,
};

const dimensions = dimensionColumns.map((name) => {
  const condition = levelsWith[name];
  return condition === undefined ? name : `if(${condition}, ${name}, '') as of_${name}`;
});
const dimensionNames = dimensions.map((text) => text.split(' as ').at(-1)).join(', ');

function rollStatement(step: CoarseStep, bucket: number): string {
  const { finer, count } = rollUpSources[step];
  const sums = counterColumns.map((name) => `sum(${name}) as sum_${name}`);
  return `insert into ${tableOf(step)}
      (bucket, level, last_minute, ${dimensionColumns.join(', ')}, ${counterColumns.join(', ')},
        latency_buckets, latency_counts)
    select ${bucket}, level, last, ${dimensionNames}, ${counterColumns.map((name) => `sum_${name}`).join(', ')},
      tupleElement(latency, 1), tupleElement(latency, 2)
    from (
      select level, max(last_minute) as last, ${dimensions.join(', ')}, ${sums.join(', ')},
        sumMap(latency_buckets, latency_counts) as latency
      from (
        select ${sourceLevels[step]}, last_minute, ${dimensionColumns.join(', ')}, ${counterColumns.join(', ')},
          latency_buckets, latency_counts
        from ${tableOf(finer)} final where bucket >= ${bucket * count} and bucket < ${(bucket + 1) * count}
      ) group by level, ${dimensionNames}
    )`;
}

/** Sums minutes to hours and hours to days. A row of a larger sum replaces an earlier one, so repetition is harmless. */
export function clickHouseRollUps(server: ClickHouse, tables: ClickHouseTables): readonly RollUp[] {
  const roll = async (store: Store, step: CoarseStep, bucket: number, next: StaleBucket | null) => {
    const seen = await readMarks(store.db, `clickhouse_${step}`, bucket);
    await tables.use(() => server.run(rollStatement(step, bucket)));
    return finishRollUp(store, seen, next);
  };
  const rollHour: RollUp['roll'] = (store, hour) =>
    roll(store, 'hour', hour, { kind: 'clickhouse_day', bucket: dayOf(hour) });
  const rollDay: RollUp['roll'] = async (store, day) => {
    const isDone = await roll(store, 'day', day, null);
    // So that reads need not merge again.
    for (const step of ['hour', 'day'] as const)
      await tables.use(() => server.run(`optimize table ${tableOf(step)} partition ${day} final`));
    return isDone;
  };
  return [
    { kind: 'clickhouse_hour', roll: rollHour, acceptsParts: true },
    { kind: 'clickhouse_day', roll: rollDay, acceptsParts: true },
  ];
}

/** Drops the days that the database no longer retains, except those that are not rolled up. */
export async function pruneClickHouse({ db }: Store, tables: ClickHouseTables): Promise<void> {
  const starts = await retentionStarts(db);
  const firstStale = async (kind: MarkKind): Promise<number> => {
    const marks = db.selectFrom('usage_mark').where('kind', '=', kind);
    const first = await marks.select(({ fn }) => fn.min<number | null>('bucket').as('at')).executeTakeFirst();
    return Number(first?.at ?? Number.POSITIVE_INFINITY);
  };
  const stale = {
    minute: (await firstStale('clickhouse_hour')) / rollUpSources.day.count,
    hour: await firstStale('clickhouse_day'),
    day: Number.POSITIVE_INFINITY,
  };
  for (const step of usageSteps) {
    const retained = (starts[step] * stepMs[step]) / stepMs.day;
    await tables.use(() => tables.dropDays(tableOf(step), Math.floor(Math.min(retained, stale[step]))));
  }
}
