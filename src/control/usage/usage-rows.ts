import { sql, type Transaction } from 'kysely';
import type { UsageRow } from '../../access/usage.ts';
import type { Schema, UsageMinuteTable } from '../database/schema.ts';

const MINUTE_MS = 60_000;
/** `last_used_at` is not moved for less: one write per key and half minute instead of one per second. */
const LAST_USED_STEP_MS = 30_000;

function sparse(counts: Readonly<Uint32Array>): string {
  const pairs: string[] = [];
  counts.forEach((count, bucket) => {
    if (count > 0) pairs.push(`${bucket}:${count}`);
  });
  return pairs.join(',');
}

function tableRow(epoch: string, row: UsageRow): UsageMinuteTable {
  return {
    minute: row.minute,
    epoch,
    key_id: row.keyId ?? '',
    product: row.product,
    method: row.method,
    status: row.status,
    requests: row.requests,
    bytes_in: row.bytesIn,
    bytes_out: row.bytesOut,
    credits: row.credits,
    messages: row.messages,
    latency: sparse(row.latency),
  };
}

const counters = ['bytes_in', 'bytes_out', 'credits', 'latency', 'messages', 'requests'] as const;

/**
 * Keeps the row with more requests and messages. Within one process a total only grows, so writing a row twice,
 * late or in the wrong order cannot inflate or shrink what is stored.
 */
function keepTheGreater(): Record<(typeof counters)[number], ReturnType<typeof sql<never>>> {
  const pick = (column: string) =>
    sql<never>`case when excluded.requests + excluded.messages > usage_minute.requests + usage_minute.messages
      then ${sql.ref(`excluded.${column}`)}
      else ${sql.ref(`usage_minute.${column}`)} end`;
  return Object.fromEntries(counters.map((column) => [column, pick(column)])) as ReturnType<
    typeof keepTheGreater
  >;
}

/** Stores rows of process `epoch`. */
export async function upsertUsage(
  trx: Transaction<Schema>,
  epoch: string,
  rows: readonly UsageRow[],
): Promise<void> {
  await trx
    .insertInto('usage_minute')
    .values(rows.map((row) => tableRow(epoch, row)))
    .onConflict((conflict) =>
      conflict
        .columns(['minute', 'epoch', 'key_id', 'product', 'method', 'status'])
        .doUpdateSet(keepTheGreater()),
    )
    .execute();
}

function lastUses(rows: readonly UsageRow[], nowMs: number): Map<number, string[]> {
  const byTime = new Map<number, string[]>();
  for (const { keyId, minute } of rows) {
    if (keyId === null) continue;
    const usedAt = Math.min(nowMs, (minute + 1) * MINUTE_MS - 1);
    const keys = byTime.get(usedAt);
    if (keys === undefined) byTime.set(usedAt, [keyId]);
    else if (!keys.includes(keyId)) keys.push(keyId);
  }
  return byTime;
}

/** Moves `last_used_at` of the rows' keys forward, to within half a minute of the truth. */
export async function touchKeys(
  trx: Transaction<Schema>,
  rows: readonly UsageRow[],
  nowMs: number,
): Promise<void> {
  for (const [usedAt, keyIds] of lastUses(rows, nowMs)) {
    await trx
      .updateTable('api_key')
      .set({ last_used_at: usedAt })
      .where('id', 'in', keyIds)
      .where((where) =>
        where.or([where('last_used_at', 'is', null), where('last_used_at', '<', usedAt - LAST_USED_STEP_MS)]),
      )
      .execute();
  }
}
