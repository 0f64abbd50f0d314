import { type Kysely, sql } from 'kysely';
import type { Schema } from '../database/schema.ts';

/** Notes what the minutes of an hour come to in each run of a process; a note never becomes less. */
export async function recordHighWater(db: Kysely<Schema>, hour: number): Promise<void> {
  const greater = (name: string) =>
    sql<never>`case when excluded.${sql.ref(name)} > usage_seen.${sql.ref(name)}
      then excluded.${sql.ref(name)} else usage_seen.${sql.ref(name)} end`;
  const seen = await db
    .selectFrom('usage_minute')
    .select([
      'epoch',
      sql<number>`cast(sum(requests) as bigint)`.as('requests'),
      sql<number>`cast(sum(messages) as bigint)`.as('messages'),
      sql<number>`cast(sum(credits) as bigint)`.as('credits'),
    ])
    .where('minute', '>=', hour * 60)
    .where('minute', '<', hour * 60 + 60)
    .groupBy('epoch')
    .execute();
  if (seen.length === 0) return;
  await db
    .insertInto('usage_seen')
    .values(seen.map((row) => ({ hour, ...row })))
    .onConflict((conflict) =>
      conflict.columns(['hour', 'epoch']).doUpdateSet({
        requests: greater('requests'),
        messages: greater('messages'),
        credits: greater('credits'),
      }),
    )
    .execute();
}
