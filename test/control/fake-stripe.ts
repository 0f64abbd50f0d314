import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export const KEY = 'sk_test_secret';
const HOUR_MS = 3_600_000;
const METER = 'mtr_test_1';
/** Totals contain events with a delay. */
const TOTALS_DELAY_MS = 40 * 60_000;

export type Mode = 'ok' | 'broken' | 'lost-response' | 'limited' | 'unknown-customer';

type MeterEvent = Readonly<{
  identifier: string;
  at: number;
  customer: string;
  value: number;
  received: number;
}>;

/**
 * Stripe's meters and customers, which misbehave as `mode` says. Identifiers are accepted once within 24 hours. Source:
 * docs.stripe.com/api/billing/meter-event, /meter-event-summary, /meter and docs.stripe.com/api/customers.
 */
export class FakeStripe {
  mode: Mode = 'ok';
  now = 0;
  requests = 0;
  readonly events: MeterEvent[] = [];
  /** Customers that were deleted; those with an id that ends in `missing` never existed. */
  readonly deleted = new Set<string>();
  /** Customers whose requests fail. */
  readonly broken = new Set<string>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  async listen(port = 0): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Credits by hour. */
  totals(): Record<number, number> {
    const totals: Record<number, number> = {};
    for (const { at, value } of this.events) totals[at / HOUR_MS] = (totals[at / HOUR_MS] ?? 0) + value;
    return totals;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://stripe');
    const form = new URLSearchParams(await text(request));
    const isAuthorized = request.headers.authorization === `Bearer ${KEY}`;
    const [status, body] = isAuthorized
      ? this.#respond(`${request.method} ${pathname}`, searchParams, form)
      : failure(401, 'Invalid API Key provided');
    const isLost = this.mode === 'lost-response' && request.method === 'POST' && status === 200;
    if (isLost) response.destroy();
    else response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  #respond(route: string, query: URLSearchParams, form: URLSearchParams): Reply {
    if (this.mode === 'broken') return failure(500, 'An error occurred');
    if (this.mode === 'limited') return failure(429, 'Too many requests');
    if (route.startsWith('GET /v1/customers/'))
      return this.#customer(route.slice('GET /v1/customers/'.length));
    if (route === 'GET /v1/billing/meters')
      return listOf([{ id: METER, object: 'billing.meter', event_name: 'api_credits', status: 'active' }]);
    if (route === `GET /v1/billing/meters/${METER}/event_summaries`) return this.#summaries(query);
    if (route === 'POST /v1/billing/meter_events') return this.#addEvent(form);
    return failure(404, `Unrecognized request URL (${route})`);
  }

  #hasCustomer = (id: string): boolean => !this.deleted.has(id) && !id.endsWith('missing');

  #customer(id: string): Reply {
    if (this.broken.has(id)) return failure(500, 'An error occurred');
    if (id.endsWith('missing')) return failure(404, `No such customer: '${id}'`);
    const deleted = this.deleted.has(id);
    return [200, { id, object: 'customer', ...(deleted && { deleted }) }];
  }

  /** Sums up all events of the range, because the requests name no window. */
  #summaries(query: URLSearchParams): Reply {
    const [start_time, end_time] = [Number(query.get('start_time')), Number(query.get('end_time'))];
    const customer = query.get('customer') ?? '';
    if (!(start_time < end_time) || start_time % 60 !== 0 || end_time % 60 !== 0)
      return failure(400, 'Timestamps must be aligned with minute boundaries');
    if (!this.#hasCustomer(customer)) return failure(400, `No such customer: '${customer}'`);
    const events = this.events
      .filter((event) => event.customer === customer && event.received <= this.now - TOTALS_DELAY_MS)
      .filter(({ at }) => at >= start_time * 1_000 && at < end_time * 1_000);
    const aggregated_value = events.reduce((total, { value }) => total + value, 0);
    const summary = { id: 'mtrusg_test_1', object: 'billing.meter_event_summary', meter: METER };
    return listOf([{ ...summary, aggregated_value, start_time, end_time, livemode: false }]);
  }

  #addEvent(form: URLSearchParams): Reply {
    const customer = form.get('payload[stripe_customer_id]') ?? '';
    if (this.mode === 'unknown-customer' || !this.#hasCustomer(customer))
      return failure(400, `No such customer: '${customer}'`);
    const identifier = form.get('identifier') ?? '';
    const isRepeated = this.events.some(
      (event) => event.identifier === identifier && this.now - event.received < 24 * HOUR_MS,
    );
    if (isRepeated) return failure(400, `An event already exists with identifier ${identifier}.`);
    const at = Number(form.get('timestamp')) * 1_000;
    const value = Number(form.get('payload[value]'));
    this.events.push({ identifier, at, received: this.now, customer, value });
    return [200, { object: 'billing.meter_event', identifier, event_name: 'api_credits', livemode: false }];
  }
}

type Reply = readonly [status: number, body: object];

const listOf = (data: readonly object[]): Reply => [200, { object: 'list', data, has_more: false }];
const failure = (status: number, message: string): Reply => [
  status,
  { error: { type: 'invalid_request_error', message } },
];
