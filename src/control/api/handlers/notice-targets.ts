import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { fieldsOf, findRow } from '../../database/rows.ts';
import type { Schema } from '../../database/schema.ts';
import type { NoticeTargetTable } from '../../database/tables/notices.ts';
import { claimTest, recordOutcome } from '../../notifications/delivery-queue.ts';
import { type Notice, noticeLimits } from '../../notifications/notice.ts';
import { deliverNotice } from '../../notifications/notifier.ts';
import {
  addTarget,
  listTargets,
  removeTarget,
  scopeColumns,
  type TargetScope,
} from '../../notifications/targets.ts';
import { WebhookSeal } from '../../notifications/webhooks.ts';
import { ApiError, invalidField, limitReached, notFound } from '../api-error.ts';
import { EMAIL_RULE, email } from '../contract/values.ts';
import { type ApiContext, callerKeyOf } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { withAudit } from './audit.ts';
import { requireCustomer } from './customers.ts';

export const targetJson = (row: NoticeTargetTable) => ({
  to: row.shown,
  ...fieldsOf(row, 'id', 'kind', 'created_at', 'last_sent_at', 'last_problem'),
});

const httpUrl = z.url({ protocol: /^https?$/ });

const NO_MAIL =
  'No mail is configured. Ask the operator to set [mail] in the configuration, or use a webhook.';

const limitsOf = ({ notices }: ApiServices) => notices?.limits ?? noticeLimits;

/** Actions of an operator's alerts concern no customer. */
const auditOf = ({ customerId, isAlert }: TargetScope, change: 'add' | 'remove') => ({
  action: isAlert ? `alert.target.${change}` : `notice.${change}`,
  customerId: isAlert ? null : customerId,
});

export type TargetInput = Readonly<{ kind: NoticeTargetTable['kind']; to: string; secret?: string }>;

function checkedTo({ mailer, notices }: ApiServices, { kind, to }: TargetInput): string {
  if (kind === 'email') {
    if (mailer === null) throw invalidField('kind', NO_MAIL);
    const address = email.safeParse(to);
    if (!address.success) throw invalidField('to', EMAIL_RULE);
    return address.data;
  }
  if (!httpUrl.safeParse(to).success) throw invalidField('to', 'must be a URL such as https://host/path');
  const reason = notices?.webhooks.rejectionReason(to) ?? null;
  if (reason !== null) throw invalidField('to', reason);
  if (to.includes('#')) throw invalidField('to', 'must not have a fragment: leave out # and what follows');
  return new URL(to).href;
}

export function addTargetOf(
  services: ApiServices,
  scope: TargetScope,
  input: TargetInput,
  context: ApiContext,
) {
  const { kind, secret: given } = input;
  const to = checkedTo(services, input);
  const seal = new WebhookSeal(services.peppers);
  const { targetsMax } = limitsOf(services);
  return withAudit(services, context, async (trx) => {
    if ((await listTargets(trx, scope)).length >= targetsMax) {
      throw limitReached(`The maximum of ${targetsMax} targets has been reached. Remove some first.`);
    }
    const target = { scope, kind, to, secret: given, createdBy: context.actor, createdAt: services.now() };
    const { row, secret } = await addTarget(trx, seal, target);
    const detail = { notice: row.id, kind: row.kind, to: row.shown };
    return [
      { target: targetJson(row), secret },
      { ...auditOf(scope, 'add'), detail },
    ];
  });
}

async function requireTarget(db: Kysely<Schema>, scope: TargetScope, id: string) {
  const row = await findRow(db, 'notice_target', { id, ...scopeColumns(scope) });
  if (row !== undefined) return row;
  throw notFound('Recipient not found. List the recipients to see their ids.');
}

export function removeTargetOf(services: ApiServices, scope: TargetScope, id: string, context: ApiContext) {
  return withAudit(services, context, async (trx) => {
    const row = await requireTarget(trx, scope, id);
    await removeTarget(trx, id);
    const detail = { notice: id, kind: row.kind, to: row.shown };
    return [{ done: true as const }, { ...auditOf(scope, 'remove'), detail }];
  });
}

async function reserveTest(services: ApiServices, target: NoticeTargetTable, sender: string) {
  const { now, store, mailRateLimiter } = services;
  const { testIntervalMs } = limitsOf(services);
  checkWait(Math.max(target.last_sent_at ?? 0, target.tested_at) + testIntervalMs - now());
  if (target.kind === 'email')
    checkWait(mailRateLimiter?.({ customer: target.customer_id, sender, to: target.shown }) ?? 0);
  // A concurrent request may already have reserved the test.
  if (!(await claimTest(store, target.id, testIntervalMs, now()))) checkWait(testIntervalMs);
}

function checkWait(waitMs: number): void {
  if (waitMs <= 0) return;
  const retryAfter = Math.ceil(waitMs / 1_000);
  const message = `A message was sent there recently. Try again in ${retryAfter} s.`;
  throw new ApiError(429, 'RATE_LIMITED', message, { retryAfter });
}

async function testNotice(
  { store, now }: ApiServices,
  { customerId, isAlert }: TargetScope,
): Promise<Notice> {
  const at = new Date(now()).toISOString();
  if (isAlert) return { type: 'alert.test', at };
  const { name } = await requireCustomer(store.db, customerId);
  return { type: 'test', customer: { id: customerId, name }, at };
}

export async function testTargetOf(
  services: ApiServices,
  scope: TargetScope,
  id: string,
  { signal, caller }: ApiContext,
) {
  const { store, mailer, notices, peppers, accounts, now } = services;
  const target = await requireTarget(store.db, scope, id);
  await reserveTest(services, target, callerKeyOf(caller));
  const notice = await testNotice(services, scope);
  const { publicUrl } = accounts;
  const channels = { webhooks: notices?.webhooks ?? null, mailer, seal: new WebhookSeal(peppers), publicUrl };
  const { timeoutMs } = limitsOf(services);
  const delivery = {
    id: randomUUID(),
    nowMs: now(),
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  };
  const { problem } = await deliverNotice(channels, target, notice, delivery);
  await recordOutcome(store.db, id, problem, now());
  return { delivered: problem === null, problem };
}
