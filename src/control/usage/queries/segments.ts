import type { Kysely } from 'kysely';
import type { Schema } from '../../database/schema.ts';
import { type DirtyBucketKind, type UsageStep, usageSteps } from '../../database/tables/usage.ts';
import { type Axis, stepMs } from './axis.ts';

/** What is read from: totals by customer (of all methods, or by method), or rows by key. */
export type Family = 'total' | 'detail';

/**
 * A part of an axis and where to read it: in the rolled-up rows of a step, or (`raw`) in the minutes of single
 * processes, of which everything follows. Buckets are counted in `step`.
 */
export type Segment = Readonly<{ step: UsageStep; isRaw: boolean; from: number; to: number }>;

/** What makes a bucket of a step stale: marks of it, or of what it is made of. */
const stale: Readonly<Record<Family, readonly Readonly<{ kind: DirtyBucketKind; step: UsageStep }>[]>> = {
  total: [
    { kind: 'minute', step: 'minute' },
    { kind: 'total_hour', step: 'hour' },
    { kind: 'total_day', step: 'day' },
  ],
  detail: [
    { kind: 'hour', step: 'hour' },
    { kind: 'day', step: 'day' },
  ],
};

const per: Readonly<Record<UsageStep, number>> = { minute: 1, hour: 60, day: 24 };

/** The first bucket of each step that is still kept. */
export async function retentionStarts(db: Kysely<Schema>): Promise<Readonly<Record<UsageStep, number>>> {
  const rows = await db.selectFrom('usage_horizon').selectAll().execute();
  const of = (step: UsageStep) => rows.find((row) => row.step === step)?.bucket ?? 0;
  return { minute: of('minute'), hour: of('hour'), day: of('day') };
}

type StaleBuckets = Readonly<Record<UsageStep, ReadonlySet<number>>>;

async function staleBuckets(db: Kysely<Schema>, family: Family, axis: Axis): Promise<StaleBuckets> {
  const sets = { minute: new Set<number>(), hour: new Set<number>(), day: new Set<number>() };
  for (const { kind, step } of stale[family]) {
    const rows = await db
      .selectFrom('usage_mark')
      .select('bucket')
      .distinct()
      .where('kind', '=', kind)
      .where('bucket', '>=', Math.floor((axis.from * stepMs[axis.step]) / stepMs[step]))
      .where('bucket', '<', Math.ceil((axis.to * stepMs[axis.step]) / stepMs[step]))
      .execute();
    for (const { bucket } of rows) {
      for (const coarser of usageSteps.slice(usageSteps.indexOf(step))) {
        sets[coarser].add(Math.floor((bucket * stepMs[step]) / stepMs[coarser]));
      }
    }
  }
  return sets;
}

/**
 * Where to read an axis so that nothing is missing: from the rolled-up rows of its own step where they are made, from
 * finer ones where something came since.
 */
export async function segmentsOf(db: Kysely<Schema>, family: Family, axis: Axis): Promise<Segment[]> {
  const [sets, starts] = [await staleBuckets(db, family, axis), await retentionStarts(db)];
  const segments: Segment[] = [];
  const add = (step: UsageStep, isRaw: boolean, bucket: number): void => {
    const last = segments.at(-1);
    if (last?.step === step && last.isRaw === isRaw && last.to === bucket) {
      segments[segments.length - 1] = { ...last, to: bucket + 1 };
    } else {
      segments.push({ step, isRaw, from: bucket, to: bucket + 1 });
    }
  };
  const cover = (step: UsageStep, bucket: number): void => {
    const finer = usageSteps[usageSteps.indexOf(step) - 1];
    const isExpired = finer !== undefined && bucket * per[step] < starts[finer];
    const isRolledUp = isExpired || !sets[step].has(bucket);
    if (step === 'minute') add(step, family === 'detail' || !isRolledUp, bucket);
    else if (isRolledUp || finer === undefined) add(step, false, bucket);
    else for (let part = 0; part < per[step]; part++) cover(finer, bucket * per[step] + part);
  };
  for (let bucket = axis.from; bucket < axis.to; bucket++) cover(axis.step, bucket);
  return segments;
}
