import { randomInt } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import type { Schema } from '../database/schema.ts';
import type { DirtyBucketKind, UsageMarkTable } from '../database/tables/usage.ts';

/** What a mark is about. */
export type DirtyBucket = Readonly<{ kind: DirtyBucketKind; bucket: number }>;

/** Marks of one bucket as somebody saw them. */
export type DirtyBucketSnapshot = Readonly<{
  kind: DirtyBucketKind;
  bucket: number;
  tokens: ReadonlyMap<string, number>;
}>;

/** Tokens are compared for being the same, never by size: two changes must not have one by chance. */
const TOKEN_END = 2 ** 47;

/** Says that these buckets are to be made anew, in the transaction of the change. @param epoch - whose change. */
export async function markDirty(
  trx: Transaction<Schema>,
  epoch: string,
  buckets: readonly DirtyBucket[],
): Promise<void> {
  if (buckets.length === 0) return;
  const token = randomInt(TOKEN_END);
  await trx
    .insertInto('usage_mark')
    .values(buckets.map(({ kind, bucket }): UsageMarkTable => ({ kind, bucket, epoch, token })))
    .onConflict((conflict) => conflict.columns(['kind', 'bucket', 'epoch']).doUpdateSet({ token }))
    .execute();
}

/** The marked buckets of a kind before `end`, the newest first. */
export async function listDirtyBuckets(
  db: Kysely<Schema>,
  kind: DirtyBucketKind,
  end: number,
  limit: number,
): Promise<number[]> {
  const rows = await db
    .selectFrom('usage_mark')
    .select('bucket')
    .distinct()
    .where('kind', '=', kind)
    .where('bucket', '<', end)
    .orderBy('bucket', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ bucket }) => bucket);
}

/** The marks of a bucket. Read them before what it is made of. */
export async function readDirtyBucket(
  db: Kysely<Schema>,
  kind: DirtyBucketKind,
  bucket: number,
): Promise<DirtyBucketSnapshot> {
  const rows = await db
    .selectFrom('usage_mark')
    .select(['epoch', 'token'])
    .where('kind', '=', kind)
    .where('bucket', '=', bucket)
    .execute();
  return { kind, bucket, tokens: new Map(rows.map(({ epoch, token }) => [epoch, token])) };
}

/**
 * Whether the marks are still those that were seen, so that what was read since then is what is to be written. Holds
 * them until the transaction ends: whoever would change what the bucket is made of waits for that.
 */
export async function lockIfUnchanged(trx: Transaction<Schema>, seen: DirtyBucketSnapshot): Promise<boolean> {
  if (seen.tokens.size === 0) return false;
  await trx
    .updateTable('usage_mark')
    .set((update) => ({ token: update.ref('token') }))
    .where('kind', '=', seen.kind)
    .where('bucket', '=', seen.bucket)
    .execute();
  const now = await readDirtyBucket(trx, seen.kind, seen.bucket);
  return (
    now.tokens.size === seen.tokens.size &&
    [...now.tokens].every(([epoch, token]) => seen.tokens.get(epoch) === token)
  );
}

/** Takes the marks away that `holdMarks` holds, and none that came since: the bucket is made. */
export async function clearDirty(
  trx: Transaction<Schema>,
  { kind, bucket, tokens }: DirtyBucketSnapshot,
): Promise<void> {
  await trx
    .deleteFrom('usage_mark')
    .where('kind', '=', kind)
    .where('bucket', '=', bucket)
    .where('epoch', 'in', [...tokens.keys()])
    .execute();
}
