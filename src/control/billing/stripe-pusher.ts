import { selectRows } from '../database/rows.ts';
import type { Store } from '../database/store.ts';
import type { StripeEventTable } from '../database/tables/billing.ts';
import type { OnState } from '../failure-state.ts';
import { LeasedTask } from '../leased-task.ts';
import { stepMs } from '../usage/read-usage.ts';
import type { StripePusherOptions } from './billing-options.ts';
import type { StripeApi } from './stripe-api.ts';
import {
  claimEvents,
  firstOpenHour,
  outcomeUnknownSince,
  pruneEvents,
  queueEvents,
  recordEvent,
  sentCredits,
  unmapDeleted,
} from './stripe-events.ts';
import { SETTLED_MS } from './stripe-totals.ts';

type StripePusherParts = Readonly<{
  store: Store;
  api: Pick<StripeApi, 'pushEvent' | 'readTotal'>;
  options: StripePusherOptions;
  onState: OnState;
  now?: () => number;
}>;

const RETRY_FACTOR = 2;
const CUSTOMERS_PAGE = 200;

/** Sends the credits of customers to a Stripe billing meter, hour by hour, each credit exactly once. */
export class StripePusher extends LeasedTask {
  readonly #parts: StripePusherParts;
  readonly #now: () => number;

  constructor({ now = Date.now, ...parts }: StripePusherParts) {
    const { pushIntervalMs: intervalMs } = parts.options;
    const options = { ...parts, now, lease: 'stripe', leaseMs: 2 * intervalMs, intervalMs };
    super(options, () => this.#push());
    this.#parts = parts;
    this.#now = now;
  }

  async #push(): Promise<void> {
    const { store, options } = this.#parts;
    if (!(await this.renewLease())) return;
    await this.#queueHours();
    await unmapDeleted(store, await firstOpenHour(store, this.#endHour()));
    await pruneEvents(store, Math.floor((this.#now() - 2 * options.ageMaxMs) / stepMs.hour));
    while (!this.isStopped) {
      const due = await claimEvents(store, options.inFlightMax, options.eventLeaseMs, this.#now());
      await Promise.all(due.map((event) => this.#deliver(event)));
      if (due.length === 0) return;
    }
  }

  /** End of the hours that are complete. */
  #endHour(): number {
    return Math.floor((this.#now() - this.#parts.options.hourDelayMs) / stepMs.hour);
  }

  /** Queues hours that have ended since the last run. */
  async #queueHours(): Promise<void> {
    const { store } = this.#parts;
    const endHour = this.#endHour();
    for (let after = ''; !this.isStopped; ) {
      const customers = await selectRows(store.db, 'stripe_customer', {})
        .where('next_hour', '<', endHour)
        .where('customer_id', '>', after)
        .orderBy('customer_id')
        .limit(CUSTOMERS_PAGE)
        .execute();
      for (const customer of customers) await queueEvents(store, customer, endHour, this.#now());
      if (customers.length < CUSTOMERS_PAGE) return;
      after = customers.at(-1)?.customer_id ?? '';
    }
  }

  /** @param event - as it was before the claim. */
  async #deliver(event: StripeEventTable): Promise<void> {
    const { store, options } = this.#parts;
    if (this.#now() - event.hour * stepMs.hour > options.ageMaxMs) {
      const problem = `${event.problem ?? 'It was never sent.'} Stripe accepts no events older than 35 days.`;
      await recordEvent(store, event, { state: 'failed', problem });
    } else if (this.#now() - outcomeUnknownSince(event) > options.outcomeUnknownMaxMs) {
      await this.#resolve(event);
    } else {
      await this.#send(event, event.outcome_unknown_since);
    }
  }

  async #send(event: StripeEventTable, unknownSinceBefore: number | null): Promise<void> {
    const { store, api, options } = this.#parts;
    const { problem, isOutcomeUnknown } = await api.pushEvent({
      ...{ identifier: event.id, stripeCustomerId: event.stripe_id, value: event.credits },
      at: event.hour * stepMs.hour,
    });
    if (problem === null) {
      const sent = {
        state: 'sent',
        problem: null,
        outcome_unknown_since: null,
        due_at: this.#now(),
      } as const;
      await recordEvent(store, event, sent);
      return;
    }
    const delay = Math.min(options.retryMaxMs, options.retryMs * RETRY_FACTOR ** event.attempts);
    const due_at = this.#now() + delay;
    // Otherwise, the time of the claim remains.
    const known = isOutcomeUnknown ? {} : { outcome_unknown_since: unknownSinceBefore };
    await recordEvent(store, event, { problem, due_at, ...known });
  }

  /** Looks up whether Stripe has an event that may have been accepted too long ago to be repeated safely. */
  async #resolve(event: StripeEventTable): Promise<void> {
    const { store, api, options } = this.#parts;
    const from = event.hour * stepMs.hour;
    const [before, total] = [
      await sentCredits(store, event, this.#now() - SETTLED_MS),
      await api.readTotal(event.stripe_id, from, from + stepMs.hour),
    ];
    if (before === null || total === null) {
      const reason =
        before === null ? 'Another event of its hour is undecided.' : 'The total of its hour cannot be read.';
      const problem = event.problem ?? `It is unknown whether Stripe has this event. ${reason}`;
      await recordEvent(store, event, { problem, due_at: this.#now() + options.retryMaxMs });
    } else if (total >= before + event.credits) {
      await recordEvent(store, event, { state: 'sent', problem: null, outcome_unknown_since: null });
    } else if (total > before) {
      const problem = `Stripe has ${total} credits for this hour instead of ${before}. Compare it with your meter.`;
      await recordEvent(store, event, { problem, due_at: this.#now() + options.retryMaxMs });
    } else {
      // Stripe does not have it, so its identifier is unique for another day.
      await recordEvent(store, event, { outcome_unknown_since: this.#now() });
      await this.#send(event, null);
    }
  }
}
