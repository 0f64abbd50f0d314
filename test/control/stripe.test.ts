import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { stripePusherOptions } from '../../src/control/billing/billing-options.ts';
import { StripeApi, stripeApiLimits } from '../../src/control/billing/stripe-api.ts';
import { mapCustomer, queueEvents } from '../../src/control/billing/stripe-events.ts';
import { StripePusher } from '../../src/control/billing/stripe-pusher.ts';
import type { Store } from '../../src/control/database/store.ts';
import { readStripeProblems } from '../../src/control/health/read-problems.ts';
import { openAccountsFixture } from './accounts/accounts-fixture.ts';
import { FakeStripe, KEY, type Mode } from './fake-stripe.ts';
import { describeOnBothStores } from './stores.ts';
import { addKeys, rollUpAt, usageRow, write } from './usage/usage-fixture.ts';

const HOUR_MS = 3_600_000;
const NOON = Date.UTC(2027, 0, 15, 12);
const NOON_HOUR = NOON / HOUR_MS;
const audit = {
  id: 1_000,
  actor: 'test',
  key_id: null,
  detail: '{}',
  address: null,
  user_agent: null,
  request_id: null,
};

describeOnBothStores('the push of usage to Stripe', ({ open }) => {
  let stripe: FakeStripe;
  let port = 0;
  let api: StripeApi;
  let store: Store;

  beforeAll(async () => {
    stripe = new FakeStripe();
    port = await stripe.listen();
    api = new StripeApi(KEY, 'api_credits', { ...stripeApiLimits, apiUrl: `http://127.0.0.1:${port}` });
  });
  afterAll(async () => {
    await api.close();
    await stripe.close();
  });
  beforeEach(async () => {
    Object.assign(stripe, { mode: 'ok', now: NOON });
    stripe.events.length = 0;
    stripe.deleted.clear();
    store = await open();
    await addKeys(store, 'acme', { AAAAAAAA: 'default' });
    await mapCustomer(store.db, 'acme', 'cus_1', NOON);
  });

  const use = (hour: number, credits: number, epoch = 'one') =>
    write(store, [usageRow({ minute: (NOON_HOUR + hour) * 60 + 7, keyId: 'AAAAAAAA', credits })], epoch);
  /** Runs a pusher of a new process. */
  const push = async (nowMs: number): Promise<void> => {
    stripe.now = nowMs;
    await rollUpAt(store, nowMs);
    const now = (): number => nowMs;
    const pusher = new StripePusher({
      ...{ store, api, options: stripePusherOptions, now },
      onState: (error) => {
        if (error !== null) throw error;
      },
    });
    await pusher.runOnce();
    await store.db.deleteFrom('usage_claim').execute();
  };
  const after = (hours: number): number => NOON + hours * HOUR_MS + stripePusherOptions.hourDelayMs;
  const states = async (): Promise<string[]> =>
    (await store.db.selectFrom('stripe_event').select('state').orderBy('id').execute()).map(
      ({ state }) => state,
    );

  it('sends complete hours since the mapping, and late usage, once each', async () => {
    await use(-1, 1_000);
    await use(0, 30);
    await push(after(1) - 1);
    expect(stripe.events).toEqual([]);
    const mapped = await store.db.selectFrom('stripe_customer').selectAll().executeTakeFirstOrThrow();
    // As if several gateways had the lease.
    const queue = () => queueEvents(store, mapped, NOON_HOUR + 1, after(1));
    await Promise.all(Array.from({ length: 8 }, queue));
    await Promise.all([push(after(1)), push(after(1))]);
    await use(1, 5);
    await use(0, 12, 'late');
    await push(after(2));
    await push(after(3));
    expect(stripe.events.map(({ at, customer, value }) => [at, customer, value])).toEqual([
      [NOON, 'cus_1', 30],
      [NOON, 'cus_1', 12],
      [NOON + HOUR_MS, 'cus_1', 5],
    ]);
    expect(new Set(stripe.events.map(({ identifier }) => identifier)).size).toBe(3);
  });

  it.each<Mode>(['broken', 'limited', 'unknown-customer', 'lost-response'])(
    'loses and doubles nothing while Stripe is %s for days, and reports it as a problem',
    async (mode) => {
      await use(0, 30);
      stripe.mode = mode;
      const hours = [12, 24, 36, 48, 60];
      for (const hour of hours) {
        await use(hour, hour);
        await push(after(hour + 1));
      }
      const isLost = mode === 'lost-response';
      const [problem, ...others] = await readStripeProblems(store, after(61));
      expect([problem?.code, others]).toEqual([isLost ? undefined : 'stripe_push', []]);
      stripe.mode = 'ok';
      await push(after(80));
      const expected = Object.fromEntries([0, ...hours].map((hour) => [NOON_HOUR + hour, hour || 30]));
      expect(stripe.totals()).toEqual(expected);
      expect(await readStripeProblems(store, after(80))).toEqual([]);
    },
  );

  it('is continued when Stripe can be reached again', async () => {
    await use(0, 30);
    await stripe.close();
    for (const hours of [1, 20, 100]) await push(after(hours));
    expect((await readStripeProblems(store, after(101)))[0]?.text).toMatch(/ECONNREFUSED/);
    stripe = new FakeStripe();
    await stripe.listen(port);
    await push(after(200));
    expect(stripe.totals()).toEqual({ [NOON_HOUR]: 30 });
  });

  it('does not repeat an event that Stripe accepted before a stop of more than a day', async () => {
    await use(0, 30);
    await use(1, 7);
    stripe.mode = 'lost-response';
    await push(after(2));
    expect(await states()).toEqual(['pending', 'pending']);
    // The second event never arrived.
    stripe.events.pop();
    stripe.mode = 'ok';
    await push(after(60));
    expect(stripe.totals()).toEqual({ [NOON_HOUR]: 30, [NOON_HOUR + 1]: 7 });
    expect(await states()).toEqual(['sent', 'sent']);
  });

  it('sends nothing twice from a backup that is restored after days', async () => {
    await use(0, 30);
    stripe.mode = 'limited';
    await push(after(1));
    await use(1, 7);
    stripe.mode = 'ok';
    const backup = await store.db.selectFrom('stripe_event').selectAll().execute();
    await push(after(2));
    await store.db.deleteFrom('stripe_event').execute();
    await store.db.insertInto('stripe_event').values(backup).execute();
    await store.db
      .updateTable('stripe_customer')
      .set({ next_hour: NOON_HOUR + 1 })
      .execute();
    await push(after(60));
    expect(stripe.totals()).toEqual({ [NOON_HOUR]: 30, [NOON_HOUR + 1]: 7 });
    expect(await states()).toEqual(['sent', 'sent']);
  });

  it('decides by a total only once it contains the events that were sent', async () => {
    await use(0, 30);
    await push(after(1));
    stripe.mode = 'lost-response';
    await use(0, 12, 'late');
    await push(after(2));
    // As if the first event had been sent half an hour before.
    stripe.events[0] = { ...stripe.events[0]!, received: after(59.5) };
    await store.db
      .updateTable('stripe_event')
      .set({ due_at: after(59.5) })
      .where('number', '=', 0)
      .execute();
    stripe.mode = 'ok';
    for (const hours of [60, 62]) await push(after(hours));
    expect(stripe.totals()).toEqual({ [NOON_HOUR]: 42 });
    expect(await states()).toEqual(['sent', 'sent']);
  });

  it('includes usage until a customer is unmapped, and refuses customers that Stripe lacks', async () => {
    const { clock, services, api: control } = await openAccountsFixture(store);
    Object.assign(services, { stripe: api });
    clock.now = NOON + HOUR_MS / 2;
    const map = (stripeCustomerId: string | null) =>
      control.call(
        'PUT /customers/{customer}/stripe',
        { path: { customer: 'acme' }, body: { stripeCustomerId } },
        'test',
      );
    stripe.deleted.add('cus_deleted');
    for (const id of ['cus_missing', 'cus_deleted'])
      await expect(map(id)).rejects.toMatchObject({
        status: 422,
        fields: { stripeCustomerId: 'Stripe has no such customer' },
      });
    await use(0, 30);
    await map('cus_2');
    await use(0, 12, 'late');
    await map(null);
    await push(after(2));
    expect(stripe.events.map(({ customer, value }) => [customer, value])).toEqual([
      ['cus_1', 30],
      ['cus_2', 12],
    ]);
    stripe.mode = 'broken';
    await expect(map('cus_3')).rejects.toMatchObject({ status: 503, code: 'STRIPE_UNAVAILABLE' });
  });

  it('unmaps a deleted customer once no usage of it can arrive any more', async () => {
    await use(0, 30);
    await store.db
      .insertInto('audit')
      .values({ ...audit, at: NOON + HOUR_MS - 1, action: 'customer.delete', customer_id: 'acme' })
      .execute();
    const mapped = () => store.db.selectFrom('stripe_customer').select('stripe_id').execute();
    await push(after(1));
    await use(0, 12, 'late');
    await push(after(20 * 24));
    expect(stripe.totals()).toEqual({ [NOON_HOUR]: 42 });
    expect(await mapped()).toHaveLength(1);
    await store.db
      .insertInto('usage_horizon')
      .values({ step: 'minute', bucket: (NOON_HOUR + 1) * 60 })
      .execute();
    await push(after(21 * 24));
    expect(await mapped()).toEqual([]);
  });

  it('gives up an event that is too old for Stripe, which remains a problem', async () => {
    await use(0, 30);
    stripe.mode = 'unknown-customer';
    await push(after(1));
    await push(after(36 * 24));
    expect(await states()).toEqual(['failed']);
    const [problem] = await readStripeProblems(store, after(36 * 24));
    expect(problem).toMatchObject({ code: 'stripe_push', severity: 'error', page: '/billing?tab=all' });
    expect(JSON.stringify(problem)).not.toContain(KEY);
    await push(after(71 * 24));
    expect(await states()).toEqual([]);
  });
});
