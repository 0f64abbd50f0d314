import { chunk } from '../../base/chunk.ts';
import type { Store } from '../database/store.ts';
import type { StripeCustomerTable } from '../database/tables/billing.ts';
import type { OnState } from '../failure-state.ts';
import { LeasedTask } from '../leased-task.ts';
import { stepMs } from '../usage/read-usage.ts';
import type { StripeComparisonOptions } from './billing-options.ts';
import { type Month, monthAt, previousMonth } from './month.ts';
import type { StripeApi } from './stripe-api.ts';
import {
  customersToCompare,
  isSettled,
  pruneTotals,
  recordTotal,
  SETTLED_MS,
  sentInMonth,
} from './stripe-totals.ts';

type StripeComparisonParts = Readonly<{
  store: Store;
  api: Pick<StripeApi, 'hasCustomer' | 'readTotal'>;
  options: StripeComparisonOptions;
  onState: OnState;
  now?: () => number;
}>;

const CUSTOMERS_PAGE = 200;
/** Customers compared at a time. */
const IN_FLIGHT = 4;
/** At this many failures in a row, Stripe counts as unavailable until the next run. */
const FAILURES_MAX = 5;

/**
 * Compares the totals of Stripe with the events that were sent, once a day for each customer and open month, and after
 * the month has ended. One gateway does this at a time; after a stop, the next run continues.
 */
export class StripeComparison extends LeasedTask {
  readonly #parts: StripeComparisonParts;
  readonly #now: () => number;
  /** Where the next run continues, so that failing customers do not block the others. */
  #after = '';
  #failures = 0;
  #lastError: unknown = null;

  constructor({ now = Date.now, ...parts }: StripeComparisonParts) {
    const { compareIntervalMs: intervalMs, compareLeaseMs: leaseMs } = parts.options;
    super({ ...parts, now, lease: 'stripe totals', leaseMs, intervalMs }, () => this.#compareDue());
    this.#parts = parts;
    this.#now = now;
  }

  async #compareDue(): Promise<void> {
    const { db } = this.#parts.store;
    const month = monthAt(this.#now());
    // Until then, the month has no complete hour.
    if (this.#now() - month.from < stepMs.hour || !(await this.renewLease())) return;
    this.#failures = 0;
    await pruneTotals(db, previousMonth(month));
    for (;;) {
      const page = { month, after: this.#after, limit: CUSTOMERS_PAGE, nowMs: this.#now() };
      const due = await customersToCompare(db, page);
      for (const customers of chunk(due, IN_FLIGHT)) {
        if (!(await this.renewLease())) return;
        await Promise.all(customers.map((customer) => this.#compareOrCount(customer, month)));
        this.#after = customers.at(-1)?.customer_id ?? '';
        if (this.#failures >= FAILURES_MAX) throw this.#lastError;
      }
      if (due.length < CUSTOMERS_PAGE) break;
    }
    this.#after = '';
  }

  async #compareOrCount(customer: StripeCustomerTable, month: Month): Promise<void> {
    try {
      await this.#compare(customer, month);
      this.#failures = 0;
    } catch (thrown) {
      this.#failures += 1;
      this.#lastError = thrown;
    }
  }

  async #compare(customer: StripeCustomerTable, month: Month): Promise<void> {
    const { store, api } = this.#parts;
    const { db } = store;
    const exists = await api.hasCustomer(customer.stripe_id);
    const last = previousMonth(month);
    for (const one of customer.since < month.from && exists ? [last, month] : [month]) {
      const to = Math.min(one.to, Math.floor(this.#now() / stepMs.hour) * stepMs.hour);
      const readSent = () => sentInMonth(db, customer.stripe_id, one, to, this.#now() - SETTLED_MS);
      if (one === last && (await isSettled(db, customer, last, this.#closedMs(last), await readSent())))
        continue;
      const total = exists ? await api.readTotal(customer.stripe_id, one.from, to) : null;
      if (exists && total === null) throw new Error('The total of a customer could not be read from Stripe');
      // Read after the total, so that it includes all events that the total contains.
      await recordTotal(db, { customer, month: one, sent: await readSent(), total, nowMs: this.#now() });
    }
  }

  #closedMs = ({ to }: Month): number => to + this.#parts.options.compareClosedMs;
}
