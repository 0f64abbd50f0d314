import type { Transaction } from 'kysely';
import { monthOf, type QuotaAccount, type QuotaLedger } from '../../gateway/limits/quota.ts';
import { fieldsOf, findRow } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import { transact } from '../database/transaction.ts';
import { enqueueForCustomer } from './delivery-queue.ts';
import { NOTICE_PERCENTS, type Notice } from './notice.ts';

type QuotaThreshold = Readonly<{ account: QuotaAccount; month: number; percent: number }>;

const hasReached = ({ used, limit }: QuotaAccount, percent: number): boolean =>
  limit > 0 && used * 100 >= limit * percent;

/**
 * Returns a function that claims the thresholds reached by changed accounts, queues a notification for each, and
 * resolves to the number claimed. A threshold is claimed by only one gateway. If a call rejects, the next call retries.
 */
export function watchQuotas(store: Store, ledger: QuotaLedger): (nowMs: number) => Promise<number> {
  const changes = ledger.trackChanges();
  const pending = new Map<string, QuotaThreshold>();
  /** Thresholds claimed this month, by this or another gateway. */
  let claimed = new Set<string>();
  let month = Number.NaN;
  const detect = (account: QuotaAccount): void => {
    for (const percent of NOTICE_PERCENTS) {
      const name = `${month} ${account.customerId} ${account.planId} ${percent}`;
      if (hasReached(account, percent) && !claimed.has(name)) pending.set(name, { account, month, percent });
    }
  };
  return async (nowMs) => {
    if (ledger.monthStart !== month) claimed = new Set();
    month = ledger.monthStart;
    for (const account of changes()) detect(account);
    let enqueued = 0;
    for (const [name, threshold] of pending) {
      if (await claim(store, threshold, nowMs)) enqueued += 1;
      pending.delete(name);
      if (threshold.month === month) claimed.add(name);
    }
    return enqueued;
  };
}

function claim(store: Store, threshold: QuotaThreshold, nowMs: number): Promise<boolean> {
  const { account, month, percent } = threshold;
  const { customerId, planId, used, limit } = account;
  return transact(store, async (trx) => {
    const row = { month, percent, used, credits: limit, at: nowMs };
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('quota_notice')
      .values({ ...row, customer_id: customerId, plan_id: planId })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    if (numInsertedOrUpdatedRows !== 1n) return false;
    const notice = await noticeOf(trx, threshold, nowMs);
    if (notice !== null) await enqueueForCustomer(trx, customerId, notice, nowMs);
    return true;
  });
}

async function noticeOf(
  trx: Transaction<Schema>,
  { account, month, percent }: QuotaThreshold,
  nowMs: number,
): Promise<Notice | null> {
  const { customerId, planId, used, limit } = account;
  const customer = await findRow(trx, 'customer', { id: customerId });
  const plan = await findRow(trx, 'plan', { id: planId });
  if (customer === undefined || plan === undefined) return null;
  const { start, end } = monthOf(month);
  return {
    type: 'quota.used',
    customer: fieldsOf(customer, 'id', 'name'),
    at: new Date(nowMs).toISOString(),
    plan: fieldsOf(plan, 'id', 'name'),
    quota: {
      percent,
      used,
      limit,
      isHard: plan.quota_is_hard === 1,
      from: new Date(start).toISOString(),
      to: new Date(end).toISOString(),
    },
  };
}
