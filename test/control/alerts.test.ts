import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { pruneAlerts } from '../../src/control/alerts/alert-log.ts';
import { alertOptions } from '../../src/control/alerts/alert-options.ts';
import { AlertWatch } from '../../src/control/alerts/alert-watch.ts';
import { OutageAlert } from '../../src/control/alerts/outage-alert.ts';
import type { RouteInput } from '../../src/control/api/contract/contract.ts';
import type { ApiContext } from '../../src/control/api/handler.ts';
import { alertHandlers } from '../../src/control/api/handlers/alerts.ts';
import type { ApiServices } from '../../src/control/api/services.ts';
import type { OpenOptions } from '../../src/control/database/open.ts';
import type { Store } from '../../src/control/database/store.ts';
import type { GatewayProblem } from '../../src/control/health/problem.ts';
import type { ProblemCode } from '../../src/control/health/problem-codes.ts';
import { StatusReader } from '../../src/control/health/service-status.ts';
import { SmtpMailer } from '../../src/control/notifications/email.ts';
import { noticeLimits } from '../../src/control/notifications/notice.ts';
import { Notifier } from '../../src/control/notifications/notifier.ts';
import { WebhookSeal } from '../../src/control/notifications/webhooks.ts';
import { QuotaLedger } from '../../src/gateway/limits/quota.ts';
import { CheckedPost } from '../../src/upstream/off-chain/checked-post.ts';
import { temporaryFolder } from '../service/program.ts';
import { testPeppers } from './register.ts';
import { SmtpServer } from './smtp-server.ts';
import { describeOnBothStores } from './stores.ts';
import { type WebhookCall, WebhookReceiver } from './webhook-receiver.ts';

const NOON = Date.UTC(2026, 10, 28, 12);
const ROUTING_KEY = '0123456789abcdef0123456789abcdef';
const { alertAfterMs, resolveAfterMs } = alertOptions;

const bodyOf = ({ body }: WebhookCall) => JSON.parse(body) as Record<string, unknown>;

const context = {
  caller: { kind: 'user', userId: 'olga', email: 'olga@example.com', isOperator: true },
  ...{ actor: 'user:olga@example.com', address: '192.0.2.1', userAgent: 'test', requestId: 'r1' },
  signal: new AbortController().signal,
} as ApiContext;

const problem = (code: ProblemCode, since = NOON): GatewayProblem => ({
  ...{ code, severity: 'error', since, network: 'devnet', node: null },
  text: 'No node of devnet is ready & <that> is bad.',
});

describeOnBothStores('alerts', ({ kind, open, migrated, defer }) => {
  const receiver = new WebhookReceiver();
  const { calls } = receiver;
  const smtp = new SmtpServer();
  let smtpUrl = '';
  let url = '';
  let webhooks: CheckedPost;
  let database: OpenOptions;
  let store: Store;
  let clock: { now: number };
  /** Problems in the report of the only gateway. */
  let problems: GatewayProblem[] = [];

  beforeAll(async () => {
    url = `http://127.0.0.1:${await receiver.listen()}`;
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
    clock = { now: 0 };
    problems = [];
    webhooks = new CheckedPost({ allowedNetworks: ['127.0.0.1'], ports: [Number(new URL(url).port)] });
    store = await open(database);
    for (const table of ['notice_delivery', 'notice_target', 'alert', 'alert_silence', 'gateway'] as const)
      await store.db.deleteFrom(table).execute();
  });
  afterEach(() => webhooks.close());

  const date = () => NOON + clock.now;
  const mailer = () =>
    new SmtpMailer({ smtpUrl, from: 'Solway <s@example.com>', timeoutMs: 5_000, inFlightMax: 4 });
  const handlers = () =>
    alertHandlers({
      ...{ store, peppers: testPeppers, mailer: mailer(), now: date },
      accounts: { publicUrl: 'https://solway.example.com' },
      notices: { webhooks, limits: noticeLimits },
    } as unknown as ApiServices);
  const add = (body: RouteInput<'POST /alerts/targets'>['body']) =>
    handlers()['POST /alerts/targets']({ path: {}, query: null, body }, context);
  const test = (target: string) =>
    handlers()['POST /alerts/targets/{target}/test']({ path: { target }, query: null, body: null }, context);
  const silence = (code: ProblemCode | null, ms: number) =>
    handlers()['POST /alerts/silences'](
      { path: {}, query: null, body: { code, until: date() + ms } },
      context,
    );
  const list = () => handlers()['GET /alerts']({ path: {}, query: null, body: null }, context);

  const folder = temporaryFolder('alerts');
  let files = 0;

  /** A gateway that alerts; `restart` starts another with the same data folder. */
  async function gateway(id = 'a', file = join(folder, `${++files}.json`)) {
    const publicUrl = 'https://solway.example.com';
    const channels = { webhooks, mailer: mailer(), seal: new WebhookSeal(testPeppers), publicUrl };
    const never = { watchIntervalMs: 3_600_000, pollIntervalMs: 3_600_000 };
    const limits = { ...noticeLimits, ...never };
    const notifier = new Notifier({ store, channels, limits, ledger: new QuotaLedger(), now: date });
    const outage = new OutageAlert({ gatewayId: id, channels, file, limits });
    await outage.start();
    const own: GatewayProblem[] = [];
    const watch = new AlertWatch({
      ...{ store, outage, ownProblems: () => own, deliver: () => undefined, options: alertOptions },
      clock: { monotonic: () => clock.now, date },
    });
    defer(() => watch.stop());
    return {
      /** Problems that this gateway knows without the database. */
      own,
      async check() {
        await watch.check();
        await notifier.deliver();
      },
      restart: () => gateway(id, file),
    };
  }
  type Gateway = Awaited<ReturnType<typeof gateway>>;

  async function report(): Promise<void> {
    const row = { id: 'a', host: 'box', version: '1', started_at: 0, seen_at: 0, nodes: '[]' };
    await store.db.deleteFrom('gateway').execute();
    await store.db
      .insertInto('gateway')
      .values({ ...row, problems: JSON.stringify(problems) })
      .execute();
  }
  /** Lets time pass, with a check of each gateway every two seconds. */
  async function pass(ms: number, ...gateways: Gateway[]): Promise<void> {
    await report();
    for (const end = clock.now + ms; clock.now < end; clock.now += 2_000)
      for (const one of gateways) await one.check();
    for (const one of gateways) await one.check();
  }
  const types = () => calls.map(bodyOf).map((body) => body.type ?? body.event_action ?? 'slack');

  it('are delivered once when raised and once when resolved, by one of several gateways, also after a restart', async () => {
    await add({ kind: 'webhook', to: `${url}/hook` });
    const [one, other] = [await gateway(), await gateway('b')];
    problems = [problem('no_ready_node')];
    await pass(alertAfterMs - 2_000, one, other);
    expect(calls).toEqual([]);
    await pass(4_000, one, other);
    expect(types()).toEqual(['alert.raised']);
    expect(calls[0] && bodyOf(calls[0])).toMatchObject({
      at: new Date(NOON + alertAfterMs).toISOString(),
      alert: {
        code: 'no_ready_node',
        network: 'devnet',
        page: '/upstreams',
        since: '2026-11-28T12:00:00.000Z',
      },
    });
    const restarted = await one.restart();
    await pass(20_000, restarted, other);
    problems = [];
    await pass(resolveAfterMs + 4_000, restarted, other);
    expect(types()).toEqual(['alert.raised', 'alert.resolved']);
    const [first, second] = calls.map((call) => (bodyOf(call).alert as { id: string }).id);
    expect(second).toBe(first);
    expect((await list()).alerts).toMatchObject([{ id: first, resolvedAt: expect.any(Number) }]);
  });

  it('name the unreachable database without it, once, even if the sender restarts, and are resolved after it', async () => {
    await add({ kind: 'webhook', to: `${url}/hook` });
    const sender = await gateway('a');
    const other = await gateway('b');
    await pass(2_000, sender, other);
    await store.close();
    for (const one of [sender, other]) one.own.push(problem('database_unavailable', date()));
    receiver.statuses = [503];
    const wait = async (ms: number) => {
      for (const end = clock.now + ms; clock.now < end; clock.now += 2_000)
        for (const one of [sender, other]) await one.check();
    };
    await wait(alertAfterMs);
    expect(calls).toEqual([]);
    await wait(60_000);
    // The first attempt failed.
    expect(types()).toEqual(['alert.raised', 'alert.raised']);
    expect(new Set(calls.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    store = await open(database);
    const restarted = await sender.restart();
    await pass(resolveAfterMs + 4_000, restarted);
    expect(types()).toEqual(['alert.raised', 'alert.raised', 'alert.resolved']);
  });

  // The remaining tests do not depend on the SQL dialect.
  if (kind === 'postgres') return;

  it('are stored up to a limit once they are resolved', async () => {
    const row = { code: 'disk_full', severity: 'error', text: 'Full.', page: '/settings' } as const;
    for (const at of [1, 2, 3, 4])
      await store.db
        .insertInto('alert')
        .values({
          ...{ ...row, id: `alert-${at}`, open_key: at === 1 ? 'open' : null, network: null, node: null },
          ...{
            customer_id: null,
            since: at,
            raised_at: at,
            notified_at: at,
            resolved_at: at === 1 ? null : at,
          },
        })
        .execute();
    await pruneAlerts(store, 0, 2);
    const left = await store.db.selectFrom('alert').select('id').orderBy('id').execute();
    expect(left.map(({ id }) => id)).toEqual(['alert-1', 'alert-3', 'alert-4']);
  });

  it('are not raised late, after they are resolved', async () => {
    await add({ kind: 'webhook', to: `${url}/hook` });
    const one = await gateway();
    receiver.statuses = [503, 503];
    problems = [problem('no_ready_node')];
    await pass(alertAfterMs + 4_000, one);
    problems = [];
    await pass(600_000, one);
    // Both attempts failed, and the next one was due after the end.
    expect(types()).toEqual(['alert.raised', 'alert.raised', 'alert.resolved']);
  });

  it('are not raised by a short problem, and not resolved by a short recovery', async () => {
    await add({ kind: 'webhook', to: `${url}/hook` });
    const one = await gateway();
    for (let times = 0; times < 3; times++) {
      problems = [problem('no_ready_node')];
      await pass(alertAfterMs - 4_000, one);
      problems = [];
      await pass(2_000, one);
    }
    expect(calls).toEqual([]);
    problems = [problem('no_ready_node')];
    await pass(alertAfterMs, one);
    problems = [];
    await pass(resolveAfterMs - 4_000, one);
    problems = [problem('no_ready_node')];
    await pass(60_000, one);
    expect(types()).toEqual(['alert.raised']);
  });

  it('have the formats of Slack, PagerDuty and mail', async () => {
    await add({ kind: 'slack', to: `${url}/slack` });
    await add({ kind: 'pagerduty', to: `${url}/v2/enqueue`, routingKey: ROUTING_KEY });
    await add({ kind: 'email', to: 'olga@example.com' });
    const one = await gateway();
    problems = [problem('no_ready_node')];
    await pass(alertAfterMs, one);
    problems = [];
    await pass(resolveAfterMs, one);
    const bodies = (path: string) => calls.filter((call) => call.path === path).map(bodyOf);
    const text = 'No node of devnet is ready &amp; &lt;that&gt; is bad.';
    expect(bodies('/slack')).toEqual([
      {
        text: `*No ready node: devnet*\n${text}\n\nSince 2026-11-28T12:00:00.000Z.\n\nhttps://solway.example.com/upstreams`,
      },
      { text: expect.stringContaining(`*Resolved: No ready node: devnet*\nResolved: ${text}`) },
    ]);
    const [trigger, resolve, ...more] = bodies('/v2/enqueue');
    expect(more).toEqual([]);
    expect(trigger).toEqual({
      ...{ routing_key: ROUTING_KEY, event_action: 'trigger', dedup_key: expect.any(String) },
      ...{ client: 'Solway', client_url: 'https://solway.example.com' },
      payload: {
        ...{ summary: problem('no_ready_node').text, source: 'devnet', severity: 'critical' },
        ...{ timestamp: '2026-11-28T12:00:00.000Z', class: 'no_ready_node' },
        custom_details: { network: 'devnet', node: null, customer: null },
      },
      links: [{ href: 'https://solway.example.com/upstreams', text: 'Details' }],
    });
    expect(resolve).toMatchObject({ event_action: 'resolve', dedup_key: trigger?.dedup_key });
    expect(smtp.mails.map(({ text: mail }) => /^Subject: (.*)$/m.exec(mail)?.[1])).toEqual([
      'No ready node: devnet',
      'Resolved: No ready node: devnet',
    ]);
  });

  it('are silent for one code or all until a time, and then sent if the problem persists', async () => {
    await add({ kind: 'webhook', to: `${url}/hook` });
    const one = await gateway();
    await silence('error_rate', 60_000);
    problems = [problem('error_rate'), problem('stream_lag')];
    await pass(40_000, one);
    const codes = () => calls.map((call) => (bodyOf(call).alert as { code: string }).code);
    expect(codes()).toEqual(['stream_lag']);
    expect((await list()).silences).toMatchObject([{ code: 'error_rate', createdBy: context.actor }]);
    await pass(24_000, one);
    expect(codes()).toEqual(['stream_lag', 'error_rate']);
    await silence(null, 600_000);
    problems = [problem('disk_full')];
    await pass(60_000, one);
    problems = [];
    await pass(60_000, one);
    // What was sent is also resolved.
    expect(types().slice(2)).toEqual(['alert.resolved', 'alert.resolved']);
    const end = { path: { code: 'all' }, query: null, body: null };
    await handlers()['DELETE /alerts/silences/{code}'](end, context);
    await expect(handlers()['DELETE /alerts/silences/{code}'](end, context)).rejects.toMatchObject({
      status: 404,
    });
    await expect(silence(null, -1)).rejects.toMatchObject({ status: 422 });
  });

  it('can be tested for each kind of target, at a limited rate, and leave no open incident', async () => {
    const kinds = [
      await add({ kind: 'webhook', to: `${url}/hook` }),
      await add({ kind: 'slack', to: `${url}/slack` }),
      await add({ kind: 'pagerduty', to: `${url}/v2/enqueue`, routingKey: ROUTING_KEY }),
    ];
    for (const { target } of kinds) expect(await test(target.id)).toEqual({ delivered: true, problem: null });
    expect(types()).toEqual(['alert.test', 'slack', 'trigger', 'resolve']);
    await expect(test(kinds[0]!.target.id)).rejects.toMatchObject({ status: 429 });
    clock.now += noticeLimits.testIntervalMs;
    receiver.statuses = [400];
    expect(await test(kinds[2]!.target.id)).toEqual({
      delivered: false,
      problem: 'PagerDuty rejects the event. Check the integration key.',
    });
    expect(JSON.stringify(await list())).not.toContain(ROUTING_KEY);
  });

  it('reject targets at non-public addresses and incomplete ones', async () => {
    const to = 'http://10.0.0.1/services';
    const fieldOf = async (body: RouteInput<'POST /alerts/targets'>['body']) =>
      add(body).catch((error: Error & { fields?: object }) => Object.keys(error.fields ?? {}).join());
    expect(await fieldOf({ kind: 'slack', to })).toBe('to');
    expect(await fieldOf({ kind: 'pagerduty', to, routingKey: ROUTING_KEY })).toBe('to');
    expect(await fieldOf({ kind: 'pagerduty', to: `${url}/v2/enqueue` })).toBe('routingKey');
    expect(await fieldOf({ kind: 'webhook' })).toBe('to');
  });

  it('are the public history of the networks, without nodes; current problems need no database', async () => {
    const minute = 60_000;
    const row = { severity: 'error', node: 'secret-node', text: '', page: '', raised_at: 0 } as const;
    const none = { customer_id: null, customer_name: null, notified_at: null, open_key: null };
    const incidents = [
      ['no_ready_node', 'devnet', -30, -10],
      ['no_ready_node', 'devnet', -20, -5],
      ['error_rate', null, -40, -20],
      ['no_ready_node', 'devnet', -100 * 1_440, -99 * 1_440],
      ['node_unhealthy', 'devnet', -30, -10],
    ] as const;
    for (const [at, [code, network, from, to]] of incidents.entries()) {
      const times = { since: NOON + from * minute, resolved_at: NOON + to * minute };
      await store.db
        .insertInto('alert')
        .values({ ...row, ...none, ...times, code, network, id: String(at) })
        .execute();
    }
    await store.db
      .updateTable('schema_migration')
      .set({ applied_at: NOON - 600 * minute })
      .execute();
    const own: GatewayProblem[] = [];
    const parts = { store, ownProblems: () => own, now: date } as const;
    const networks = () => ['mainnet-beta', 'devnet'] as const;
    const status = new StatusReader({ ...parts, networks, streamNetwork: 'devnet' });
    expect(status.read().networks[0]).toMatchObject({ state: 'operational', availability: null, days: [] });
    await status.refresh();
    const read = status.read();
    expect(JSON.stringify(read)).not.toContain('secret-node');
    expect(read.state).toBe('operational');
    const [mainnet, devnet] = read.networks;
    expect(mainnet?.availability).toBe(1);
    expect(devnet?.availability).toBeCloseTo(1 - 25 / 600, 9);
    expect(devnet?.days).toHaveLength(90);
    expect(devnet?.days.slice(-2)).toEqual([
      { date: '2026-11-27', state: null, degradedMinutes: 0, outageMinutes: 0 },
      { date: '2026-11-28', state: 'outage', degradedMinutes: 10, outageMinutes: 25 },
    ]);
    expect(mainnet?.days.at(-1)).toMatchObject({ state: 'degraded', degradedMinutes: 20 });
    problems = [problem('no_ready_node')];
    await report();
    await status.refresh();
    own.push({ ...problem('stream_lag'), network: null });
    expect(status.read()).toMatchObject({
      state: 'outage',
      networks: [{ state: 'operational' }, { state: 'outage' }],
    });
    // What other gateways reported last does not count for long.
    clock.now += 60_000;
    expect(status.read()).toMatchObject({ state: 'degraded', networks: [{}, { state: 'degraded' }] });
  });
});
