import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { fieldsOf, findRow } from '../../database/rows.ts';
import type { Schema } from '../../database/schema.ts';
import type { NoticeTargetTable } from '../../database/tables/notices.ts';
import { claimTest, recordOutcome } from '../../notifications/delivery-queue.ts';
import { type Notice, noticeLimits } from '../../notifications/notice.ts';
import { deliverNotice } from '../../notifications/notifier.ts';
import { addTarget, listTargets, removeTarget } from '../../notifications/targets.ts';
import { WebhookSeal } from '../../notifications/webhooks.ts';
import { ApiError, invalidField, limitReached, notFound } from '../api-error.ts';
import { EMAIL_RULE, email } from '../contract/values.ts';
import { type ApiContext, callerKeyOf, defineHandlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { withAudit } from './audit.ts';
import { requireCustomer } from './customers.ts';

const targetJson = (row: NoticeTargetTable) => ({
  to: row.shown,
  ...fieldsOf(row, 'id', 'kind', 'created_at', 'last_sent_at', 'last_problem'),
});

const httpUrl = z.url({ protocol: /^https?$/ });

const NO_MAIL =
  'No mail is configured. Ask the operator to set [mail] in the configuration, or use a webhook.';

const limitsOf = ({ notices }: ApiServices) => notices?.limits ?? noticeLimits;

type TargetInput = Readonly<{ kind: NoticeTargetTable['kind']; to: string }>;

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

function add(services: ApiServices, customerId: string, input: TargetInput, context: ApiContext) {
  const to = checkedTo(services, input);
  const seal = new WebhookSeal(services.peppers);
  const { targetsMax } = limitsOf(services);
  return withAudit(services, context, async (trx) => {
    if ((await listTargets(trx, customerId)).length >= targetsMax) {
      throw limitReached(`The maximum of ${targetsMax} targets has been reached. Remove some first.`);
    }
    const target = { customerId, kind: input.kind, to, createdBy: context.actor, createdAt: services.now() };
    const { row, secret } = await addTarget(trx, seal, target);
    const detail = { notice: row.id, kind: row.kind, to: row.shown };
    return [
      { target: targetJson(row), secret },
      { action: 'notice.add', customerId, detail },
    ];
  });
}

async function requireTarget(db: Kysely<Schema>, customerId: string, id: string) {
  const row = await findRow(db, 'notice_target', { id, customer_id: customerId });
  if (row !== undefined) return row;
  throw notFound('There is no such webhook or address. See the list of notices for the ids.');
}

function remove(services: ApiServices, customerId: string, id: string, context: ApiContext) {
  return withAudit(services, context, async (trx) => {
    const row = await requireTarget(trx, customerId, id);
    await removeTarget(trx, id);
    const detail = { notice: id, kind: row.kind, to: row.shown };
    return [{ done: true as const }, { action: 'notice.remove', customerId, detail }];
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

async function test(services: ApiServices, customerId: string, id: string, context: ApiContext) {
  const { signal, caller } = context;
  const { store, mailer, notices, peppers, now } = services;
  const target = await requireTarget(store.db, customerId, id);
  await reserveTest(services, target, callerKeyOf(caller));
  const { name } = await requireCustomer(store.db, customerId);
  const customer = { id: customerId, name };
  const notice: Notice = { type: 'test', customer, at: new Date(now()).toISOString() };
  const channels = { webhooks: notices?.webhooks ?? null, mailer, seal: new WebhookSeal(peppers) };
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

export const noticeHandlers = (services: ApiServices) =>
  defineHandlers({
    'GET /customers/{customer}/notices': async ({ path }) => ({
      targets: (await listTargets(services.store.db, path.customer)).map(targetJson),
    }),
    'POST /customers/{customer}/notices': async ({ path, body }, context) =>
      add(services, path.customer, body, context),
    'POST /customers/{customer}/notices/{notice}/test': ({ path }, context) =>
      test(services, path.customer, path.notice, context),
    'DELETE /customers/{customer}/notices/{notice}': ({ path }, context) =>
      remove(services, path.customer, path.notice, context),
  });
