import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { stripeComparisonOptions } from '../../src/control/billing/billing-options.ts';
import { StripeApi, stripeApiLimits } from '../../src/control/billing/stripe-api.ts';
import { StripeComparison } from '../../src/control/billing/stripe-comparison.ts';
import type { Store } from '../../src/control/database/store.ts';
import { readStripeDifferences } from '../../src/control/health/read-problems.ts';
import { type Browser, firstOperator, openAccountsFixture } from './accounts/accounts-fixture.ts';
import { FakeStripe, KEY } from './fake-stripe.ts';
import { describeOnBothStores } from './stores.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const JANUARY = Date.UTC(2027, 0, 1);
const FEBRUARY = Date.UTC(2027, 1, 1);
const NOON = Date.UTC(2027, 1, 10, 12);

describeOnBothStores('the comparison with the totals of Stripe', ({ open }) => {
  let stripe: FakeStripe;
  let api: StripeApi;
  let store: Store;

  beforeAll(async () => {
    stripe = new FakeStripe();
    const port = await stripe.listen();
    api = new StripeApi(KEY, 'api_credits', { ...stripeApiLimits, apiUrl: `http://127.0.0.1:${port}` });
  });
  afterAll(async () => {
    await api.close();
    await stripe.close();
  });
  beforeEach(async () => {
    Object.assign(stripe, { mode: 'ok', requests: 0 });
    stripe.events.length = 0;
    stripe.deleted.clear();
    stripe.broken.clear();
    store = await open();
    await map(['acme']);
  });

  const map = (customers: readonly string[]) =>
    store.db
      .insertInto('stripe_customer')
      .values(
        customers.map((id) => ({ customer_id: id, stripe_id: `cus_${id}`, since: JANUARY, next_hour: 1 })),
      )
      .execute();
  /** An event that was sent, and that Stripe has with another value. */
  async function sent(
    at: number,
    credits: number,
    { has = credits, sentAt = at + HOUR_MS, state = 'sent' as 'sent' | 'pending' } = {},
  ) {
    const hour = at / HOUR_MS;
    const id = `e${hour}-${credits}`;
    const unknown = state === 'pending' ? sentAt : null;
    await store.db
      .insertInto('stripe_event')
      .values({
        ...{ id, customer_id: 'acme', stripe_id: 'cus_acme', hour, number: 0, credits, state, attempts: 1 },
        ...{ due_at: sentAt, outcome_unknown_since: unknown, problem: null, created_at: at },
      })
      .execute();
    stripe.events.push({ identifier: id, at, customer: 'cus_acme', value: has, received: sentAt });
  }
  /** Runs the comparison of a new process. */
  async function compare(nowMs: number): Promise<void> {
    stripe.now = nowMs;
    const comparison = new StripeComparison({
      ...{ store, api, options: stripeComparisonOptions, now: () => nowMs },
      onState: (error) => {
        if (error !== null) throw error;
      },
    });
    await comparison.runOnce();
    await store.db.deleteFrom('usage_claim').execute();
  }
  const text = async () => (await readStripeDifferences(store))[0]?.text;
  const compared = () =>
    store.db.selectFrom('stripe_total').selectAll().orderBy('customer_id').orderBy('month').execute();

  it('reports that Stripe has less, until it is equal, with the time when it began', async () => {
    await sent(FEBRUARY, 1_000);
    await sent(NOON - 2 * HOUR_MS, 500, { has: 200 });
    await compare(NOON);
    const [problem] = await readStripeDifferences(store);
    expect(problem).toMatchObject({
      ...{ code: 'stripe_totals', severity: 'error', since: NOON },
      ...{ page: '/billing?tab=customer&customer=acme' },
      text: 'For 2027-02, Stripe has 1,200 credits instead of 1,500 of acme: add the rest to its invoice in Stripe.',
    });
    await compare(NOON + HOUR_MS);
    expect((await readStripeDifferences(store))[0]?.since).toBe(NOON);
    await sent(NOON - HOUR_MS, 1, { has: 301 });
    await compare(NOON + 2 * HOUR_MS);
    expect(await readStripeDifferences(store)).toEqual([]);
  });

  it('reports what something else sent, and a customer that was deleted, with how many more differ', async () => {
    await map(['bolt']);
    await sent(FEBRUARY, 1, { has: 3 });
    stripe.deleted.add('cus_bolt');
    await compare(NOON);
    expect(await text()).toBe(
      'For 2027-02, Stripe has 3 credits instead of 1 of acme: remove the rest from its invoice in Stripe, and let nothing else use the meter. The totals of 1 more customer differ.',
    );
    await store.db.deleteFrom('stripe_customer').where('customer_id', '=', 'acme').execute();
    expect(await text()).toBe(
      'Stripe no longer has the customer cus_bolt: set another Stripe customer ID for bolt.',
    );
    await store.db.updateTable('stripe_customer').set({ stripe_id: 'cus_new' }).execute();
    expect(await text()).toBeUndefined();
  });

  it('counts events that Stripe may not have summed up yet neither as sent nor as missing', async () => {
    await sent(FEBRUARY, 100);
    await sent(NOON - 3 * HOUR_MS, 20, { sentAt: NOON - HOUR_MS / 3 });
    await sent(NOON - 2 * HOUR_MS, 27, { sentAt: NOON - HOUR_MS * 0.9, state: 'pending' });
    await compare(NOON);
    expect(await compared()).toMatchObject([{}, { sent: 127, total: 127, problem_since: null }]);
  });

  it('compares each customer once a day, the month before until it was equal after its end', async () => {
    await sent(JANUARY, 5);
    await compare(FEBRUARY + HOUR_MS - 1);
    expect(stripe.requests).toBe(0);
    await compare(FEBRUARY + HOUR_MS);
    const months = (await compared()).map(({ month, total }) => [month, total]);
    expect(months).toEqual([
      [JANUARY, 5],
      [FEBRUARY, 0],
    ]);
    const requestsAt = async (nowMs: number): Promise<number> => {
      stripe.requests = 0;
      await compare(nowMs);
      return stripe.requests;
    };
    const first = FEBRUARY + HOUR_MS;
    expect(await requestsAt(first + DAY_MS - 1)).toBe(0);
    // The customer and two totals, and from the next day on one total.
    expect(await requestsAt(first + DAY_MS)).toBe(3);
    expect(await requestsAt(first + 2 * DAY_MS)).toBe(3);
    expect(await requestsAt(first + 3 * DAY_MS)).toBe(2);
    await sent(JANUARY + DAY_MS, 2, { sentAt: first + 3.5 * DAY_MS, has: 0 });
    expect(await requestsAt(first + 4 * DAY_MS)).toBe(3);
    expect(await text()).toContain('For 2027-01, Stripe has 5 credits instead of 7 of acme');
    await compare(Date.UTC(2027, 2, 2));
    expect((await compared()).map(({ month }) => month)).toEqual([FEBRUARY, Date.UTC(2027, 2, 1)]);
  });

  it('stops for a while after failures, and continues with the customers behind them', async () => {
    const many = Array.from({ length: 20 }, (_, at) => `many-${String(at).padStart(2, '0')}`);
    await map(many);
    for (const id of many.slice(0, 12)) stripe.broken.add(`cus_${id}`);
    stripe.now = NOON;
    const states: unknown[] = [];
    const comparison = new StripeComparison({
      ...{ store, api, options: stripeComparisonOptions, now: () => NOON },
      onState: (error) => void states.push(error),
    });
    await comparison.runOnce();
    expect(states).toMatchObject([{ code: 'STRIPE_UNAVAILABLE' }]);
    expect(stripe.requests).toBeLessThan(20);
    await comparison.runOnce();
    expect(states[1]).toBeNull();
    const done = new Set((await compared()).map(({ customer_id }) => customer_id));
    expect([...done]).toEqual(['acme', ...many.slice(12)]);
    stripe.broken.clear();
    await comparison.runOnce();
    expect(new Set((await compared()).map(({ customer_id }) => customer_id)).size).toBe(21);
  });

  it('is shown to operators on the bill of the month', async () => {
    const fixture = await openAccountsFixture(store);
    const operator: Browser = await firstOperator(fixture);
    const { json: customer } = await operator.post('/api/v1/customers', { name: 'Acme' });
    await map([customer.id]);
    stripe.deleted.add(`cus_${customer.id}`);
    fixture.clock.now = NOON;
    await compare(NOON);
    const { json } = await operator.get(`/api/v1/customers/${customer.id}/billing`);
    expect(json.stripeProblem).toContain('Stripe no longer has the customer');
    const body = { name: 'viewer', role: 'viewer' };
    const { secret } = (await operator.post(`/api/v1/customers/${customer.id}/tokens`, body)).json;
    const headers = { authorization: `Bearer ${secret}` };
    const own = await fixture.browser().get(`/api/v1/customers/${customer.id}/billing`, { headers });
    expect(own.json.stripeProblem).toBeNull();
  });
});
