import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { ApiError } from '../../src/control/api/api-error.ts';
import type { ApiContext } from '../../src/control/api/handler.ts';
import { noticeHandlers } from '../../src/control/api/handlers/notices.ts';
import type { ApiServices } from '../../src/control/api/services.ts';
import type { OpenOptions } from '../../src/control/database/open.ts';
import type { Store } from '../../src/control/database/store.ts';
import { SmtpMailer } from '../../src/control/notifications/email.ts';
import type { Notice } from '../../src/control/notifications/notice.ts';
import { type NoticeLimits, noticeLimits } from '../../src/control/notifications/notice.ts';
import { Notifier } from '../../src/control/notifications/notifier.ts';
import { WebhookSeal } from '../../src/control/notifications/webhooks.ts';
import { syncPlans } from '../../src/control/plans.ts';
import { defaultPlanLimits } from '../../src/gateway/auth/key-record.ts';
import { QuotaLedger } from '../../src/gateway/limits/quota.ts';
import { CheckedPost, postLimits } from '../../src/upstream/off-chain/checked-post.ts';
import { SmtpServer } from './smtp-server.ts';
import { describeOnBothStores } from './stores.ts';
import { type WebhookCall, WebhookReceiver } from './webhook-receiver.ts';

const NOON = Date.UTC(2026, 10, 22, 12);
const key = {
  customerId: 'house',
  planId: 'default',
  limits: { ...defaultPlanLimits, monthlyCredits: 100 },
};
const peppersOf = (version: number) => ({
  current: version,
  secrets: new Map([1, 2].map((one) => [one, Buffer.alloc(32, one)])),
});

const context = {
  caller: { kind: 'user', userId: 'anna', email: 'anna@example.com', isOperator: false },
  actor: 'user:anna@example.com',
  address: '192.0.2.1',
  userAgent: 'test',
  requestId: 'r1',
  signal: new AbortController().signal,
} as ApiContext;

/** Verifies a signature as a receiver would, implemented from the standard. */
function isSignedWith(secret: string, { headers, body }: WebhookCall): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const bytes = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return headers['webhook-signature'] === `v1,${createHmac('sha256', bytes).update(signed).digest('base64')}`;
}

describeOnBothStores('notices', ({ kind, open, migrated, defer }) => {
  const receiver = new WebhookReceiver();
  const { calls } = receiver;
  const smtp = new SmtpServer();
  let port = 0;
  let smtpUrl = '';
  let webhooks: CheckedPost;
  let database: OpenOptions;
  let store: Store;
  beforeAll(async () => {
    port = await receiver.listen();
    smtpUrl = await smtp.listen();
    database = await migrated();
  });
  afterAll(async () => {
    receiver.close();
    await smtp.close();
  });
  beforeEach(async () => {
    receiver.reset();
    smtp.mails.length = 0;
    smtp.answer = '250 ok';
    webhooks = new CheckedPost({ allowedNetworks: ['127.0.0.1'], ports: [port] });
    store = await open(database);
    for (const table of ['notice_delivery', 'notice_target', 'quota_notice'] as const) {
      await store.db.deleteFrom(table).execute();
    }
    await syncPlans(store, [{ id: 'default', name: 'Standard', limits: key.limits }], 'test');
  });
  afterEach(() => webhooks.close());

  const mailer = () =>
    new SmtpMailer({ smtpUrl, from: 'Solway <s@example.com>', timeoutMs: 5_000, inFlightMax: 4 });

  function handlers(now = NOON, more: Partial<ApiServices> = {}) {
    const limits = { ...noticeLimits, targetsMax: 3 };
    return noticeHandlers({
      store,
      peppers: peppersOf(1),
      mailer: mailer(),
      notices: { webhooks, limits },
      accounts: { publicUrl: null },
      now: () => now,
      ...more,
    } as ApiServices);
  }

  const add = (kind: 'webhook' | 'email', to: string, more: Partial<ApiServices> = {}) =>
    handlers(NOON, more)['POST /customers/{customer}/notices'](
      { path: { customer: 'house' }, query: null, body: { kind, to } },
      context,
    );

  const list = async () =>
    (
      await handlers()['GET /customers/{customer}/notices'](
        { path: { customer: 'house' }, query: null, body: null },
        context,
      )
    ).targets;

  const about = (notice: string) => ({ path: { customer: 'house', notice }, query: null, body: null });
  const test = (notice: string, now = NOON) =>
    handlers(now)['POST /customers/{customer}/notices/{notice}/test'](about(notice), context);
  const remove = (notice: string) =>
    handlers()['DELETE /customers/{customer}/notices/{notice}'](about(notice), context);

  async function gateway(limits: Partial<NoticeLimits> = {}, peppers = peppersOf(1), now = () => NOON) {
    const ledger = new QuotaLedger();
    const seal = new WebhookSeal(peppers);
    const channels = { webhooks, mailer: mailer(), seal, publicUrl: null };
    const never = { watchIntervalMs: 3_600_000, pollIntervalMs: 3_600_000 };
    const notifier = new Notifier({
      ...{ store, ledger, channels, now },
      limits: { ...noticeLimits, ...never, ...limits },
    });
    await notifier.start();
    defer(() => notifier.stop());
    const use = async (credits: number) => {
      ledger.spend(key, credits, NOON);
      await notifier.checkQuotas();
      await notifier.deliver();
    };
    return { ledger, notifier, use };
  }

  const observed = (): Notice[] => calls.map(({ body }) => JSON.parse(body) as Notice);
  const percents = () =>
    observed()
      .flatMap((notice) => (notice.type === 'quota.used' ? [notice.quota.percent] : []))
      .sort((a, b) => a - b);

  it('are sent once each at 80, 95 and 100 %, whichever gateway detects it', async () => {
    const { secret, target } = await add('webhook', `http://127.0.0.1:${port}/hooks?token=geheim`);
    const [a, b] = [await gateway(), await gateway()];
    const use = async (credits: number): Promise<void> => {
      for (const gateway of [a, b]) await gateway.use(credits);
    };
    await use(79);
    expect(calls).toEqual([]);
    await use(1);
    expect(percents()).toEqual([80]);
    await use(30);
    await use(30);
    expect(percents()).toEqual([80, 95, 100]);
    expect(calls.every((call) => isSignedWith(secret ?? '', call))).toBe(true);
    expect(calls.some((call) => isSignedWith('whsec_AAAA', call))).toBe(false);
    expect(calls[0]?.path).toBe('/hooks?token=geheim');
    expect(Number(calls[0]?.headers['webhook-timestamp'])).toBe(NOON / 1_000);
    expect(observed()[0]).toEqual({
      type: 'quota.used',
      customer: { id: 'house', name: 'Default' },
      at: '2026-11-22T12:00:00.000Z',
      plan: { id: 'default', name: 'Standard' },
      quota: {
        ...{ percent: 80, used: 80, limit: 100, isHard: true },
        ...{ from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' },
      },
    });
    expect(await list()).toEqual([{ ...target, lastSentAt: NOON, lastProblem: null }]);
  });

  it('are delivered by another gateway if the first one dies', async () => {
    await add('webhook', `http://127.0.0.1:${port}/`);
    const a = await gateway();
    await webhooks.close();
    a.ledger.spend(key, 80, NOON);
    await a.notifier.checkQuotas();
    await a.notifier.stop();
    webhooks = new CheckedPost({ allowedNetworks: ['127.0.0.1'], ports: [port] });
    const b = await gateway({}, peppersOf(1), () => NOON + 60_000);
    await b.notifier.deliver();
    expect(percents()).toEqual([80]);
  });

  // The remaining tests do not depend on the SQL dialect.
  if (kind === 'postgres') return;

  it('are retried under the same id, and show the last error', async () => {
    await add('webhook', `http://127.0.0.1:${port}/`);
    let now = NOON;
    const { notifier, use } = await gateway({ triesMax: 3 }, peppersOf(1), () => now);
    receiver.statuses = [500, 503];
    await use(80);
    expect((await list())[0]).toMatchObject({
      lastSentAt: null,
      lastProblem: 'The webhook host returned 500.',
    });
    await notifier.deliver();
    expect(calls).toHaveLength(1);
    for (const pause of [10_000, 40_000]) {
      now += pause;
      await notifier.deliver();
    }
    expect(calls).toHaveLength(3);
    expect(new Set(calls.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect((await list())[0]).toMatchObject({ lastSentAt: now, lastProblem: null });
    now += 3_600_000;
    await notifier.deliver();
    expect(calls).toHaveLength(3);
  });

  it('are abandoned after the last attempt, or if the receiver is removed', async () => {
    await add('webhook', `http://127.0.0.1:${port}/`);
    let now = NOON;
    const { ledger, notifier } = await gateway({ triesMax: 2 }, peppersOf(1), () => now);
    receiver.statuses = [500, 500, 410];
    ledger.spend(key, 80, NOON);
    await notifier.checkQuotas();
    for (let tries = 0; tries < 4; tries++) {
      await notifier.deliver();
      now += 3_600_000;
    }
    expect(calls).toHaveLength(2);
    ledger.spend(key, 15, NOON);
    await notifier.checkQuotas();
    for (let tries = 0; tries < 2; tries++) {
      await notifier.deliver();
      now += 3_600_000;
    }
    expect(calls).toHaveLength(3);
    const states = await store.db.selectFrom('notice_delivery').select(['state', 'tries']).execute();
    expect(states.sort((a, b) => a.tries - b.tries)).toEqual([
      { state: 'failed', tries: 1 },
      { state: 'failed', tries: 2 },
    ]);
  });

  it('are never sent to a non-public address', async () => {
    const resolve = async () => ['127.0.0.1'];
    webhooks = new CheckedPost({ allowedNetworks: [], ports: [port] }, postLimits, resolve);
    const { target } = await add('webhook', `http://hooks.example.com:${port}/`);
    expect(await test(target.id)).toEqual({
      delivered: false,
      problem: 'The webhook host has no public address.',
    });
    expect(calls).toEqual([]);
  });

  it('are not queued without a channel', async () => {
    const wrong = [
      ['webhook', 'ftp://example.com/', 'must be a URL'],
      ['webhook', 'https://user:password@example.com/', 'without a user name or password'],
      ['webhook', 'https://example.com:22/', 'on port '],
      ['webhook', `http://10.0.0.1:${port}/`, 'to: must have a publicly reachable host'],
      ['webhook', `http://0x7f000002:${port}/`, 'to: must have a publicly reachable host'],
      ['webhook', `http://127.0.0.1:${port}/#part`, 'to: must not have a fragment'],
      ['email', 'anna', 'must be an email address'],
      ['email', 'anna@example.com\r\nBcc: bert@example.com', 'must be an email address'],
    ] as const;
    for (const [kind, to, words] of wrong) {
      const refused = await add(kind, to).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(ApiError);
      expect(refused).toMatchObject({ status: 422, message: expect.stringContaining(words) });
      expect((refused as ApiError).message).not.toContain('password@');
    }
    await expect(add('email', 'anna@example.com', { mailer: null })).rejects.toMatchObject({
      status: 422,
      message: expect.stringMatching(/kind: No mail is configured.*\[mail\]/),
    });
  });

  it('are limited in the number of webhooks and addresses', async () => {
    for (const name of ['a', 'b', 'c']) await add('email', `${name}@example.com`);
    await expect(add('email', 'd@example.com')).rejects.toMatchObject({ status: 409 });
  });

  it('are also sent by mail', async () => {
    await add('email', 'Anna@Example.com');
    const { use } = await gateway();
    await use(100);
    expect(smtp.mails.map(({ to }) => to)).toEqual(Array(3).fill(['anna@example.com']));
    const full = smtp.mails.find(({ text }) =>
      text.includes('Subject: 100 % of the credits of this month are used'),
    );
    expect(full?.text).toMatch(/rejected[\s=]+with[\s=]+QUOTA_EXCEEDED/);
    expect(full?.text).toContain('2026-12-01');
  });

  it('describe mail failures without quoting the server', async () => {
    const { target } = await add('email', 'anna@example.com');
    smtp.answer = '550 go away, secret-of-the-server';
    expect(await test(target.id)).toEqual({
      delivered: false,
      problem: 'The mail server rejects the sender or receiver.',
    });
  });

  it('can be tested at a limited rate', async () => {
    const { target, secret } = await add('webhook', `http://127.0.0.1:${port}/`);
    expect(await test(target.id)).toEqual({ delivered: true, problem: null });
    expect(observed()[0]).toMatchObject({ type: 'test', customer: { id: 'house' } });
    expect(calls[0] && isSignedWith(secret ?? '', calls[0])).toBe(true);
    await expect(test(target.id)).rejects.toMatchObject({ status: 429 });
    await test(target.id, NOON + noticeLimits.testIntervalMs);
    expect(calls).toHaveLength(2);
    await expect(test('other')).rejects.toMatchObject({ status: 404 });
  });

  it('end when their target is removed', async () => {
    const { target } = await add('webhook', `http://127.0.0.1:${port}/`);
    const { use } = await gateway();
    receiver.statuses = [500];
    await use(80);
    expect(await remove(target.id)).toEqual({ done: true });
    await expect(remove(target.id)).rejects.toMatchObject({ status: 404 });
    expect(await store.db.selectFrom('notice_delivery').selectAll().execute()).toEqual([]);
  });

  it('are audited without their secrets', async () => {
    const { secret, target } = await add('webhook', `http://127.0.0.1:${port}/long/path/geheim?token=geheim`);
    await remove(target.id);
    await add('webhook', `http://127.0.0.1:${port}/long/path/geheim?token=geheim`);
    const lines = await store.db.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(3).execute();
    const audit = lines.reverse();
    expect(audit.map(({ action, actor, customer_id }) => [action, actor, customer_id])).toEqual([
      ['notice.add', context.actor, 'house'],
      ['notice.remove', context.actor, 'house'],
      ['notice.add', context.actor, 'house'],
    ]);
    const targets = await store.db.selectFrom('notice_target').selectAll().execute();
    const dump = JSON.stringify([audit, targets]);
    expect(dump).not.toContain('geheim');
    expect(dump).not.toContain(secret);
  });
});
