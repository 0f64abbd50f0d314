import { Agent, request } from 'undici';
import { ApiError } from '../api/api-error.ts';

export const stripeApiLimits = {
  apiUrl: 'https://api.stripe.com',
  connectTimeoutMs: 10_000,
  /** Timeout of a whole request. */
  requestTimeoutMs: 30_000,
  responseMaxBytes: 256 * 1024,
  connectionsMax: 4,
};

export type StripeApiLimits = Readonly<typeof stripeApiLimits>;

/** Version of the API that the requests are written for. */
const API_VERSION = '2025-04-30.basil';

export type MeterEvent = Readonly<{
  /** Stripe accepts an identifier once within at least 24 hours. */
  identifier: string;
  stripeCustomerId: string;
  value: number;
  /** Unix milliseconds; at most 35 days ago. */
  at: number;
}>;

/** `isOutcomeUnknown`: the event may have been accepted. */
export type PushResult = Readonly<{ problem: string | null; isOutcomeUnknown: boolean }>;

/** How long the id of the meter is cached. */
const METER_CACHE_MS = 600_000;

const accepted: PushResult = { problem: null, isOutcomeUnknown: false };

type StripeError = Readonly<{ error?: Readonly<{ message?: unknown }> }>;

/** Source: the response of Stripe to a repeated identifier. */
const DUPLICATE = /^An event already exists with identifier/;

/** Errors of a request that was not sent. */
const UNSENT: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
]);

type StripeResponse = Readonly<{ status: number; body: unknown }>;

/** Client of Stripe's API for billing meters. Texts of Stripe may name customers, but never contain the secret key. */
export class StripeApi {
  readonly #secretKey: string;
  readonly #meter: string;
  readonly #limits: StripeApiLimits;
  readonly #agent: Agent;
  #meterId: Readonly<{ id: string; until: number }> | null = null;

  /** @param meter - event name of the meter. */
  constructor(secretKey: string, meter: string, limits: StripeApiLimits) {
    this.#secretKey = secretKey;
    this.#meter = meter;
    this.#limits = limits;
    this.#agent = new Agent({
      connections: limits.connectionsMax,
      connect: { timeout: limits.connectTimeoutMs },
      maxResponseSize: limits.responseMaxBytes,
      pipelining: 1,
    });
  }

  /** Never rejects. Source: docs.stripe.com/api/billing/meter-event/create. */
  async pushEvent({ identifier, stripeCustomerId, value, at }: MeterEvent): Promise<PushResult> {
    const form = new URLSearchParams({
      event_name: this.#meter,
      identifier,
      timestamp: String(Math.floor(at / 1_000)),
      'payload[stripe_customer_id]': stripeCustomerId,
      'payload[value]': String(value),
    });
    try {
      const { status, body } = await this.#send('POST', '/v1/billing/meter_events', form.toString());
      if (status >= 200 && status < 300) return accepted;
      const text = messageOf(body);
      if (status === 400 && DUPLICATE.test(text)) return accepted;
      return {
        problem: `Stripe responded with ${status}${text && `: ${text}`}`,
        isOutcomeUnknown: status >= 500,
      };
    } catch (thrown) {
      const code = codeOf(thrown);
      return { problem: `Stripe did not respond (${code}).`, isOutcomeUnknown: !UNSENT.has(code) };
    }
  }

  /**
   * Whether Stripe has a customer that is not deleted. Source: docs.stripe.com/api/customers/retrieve.
   * @throws ApiError 503 if it is unknown.
   */
  async hasCustomer(stripeCustomerId: string): Promise<boolean> {
    const path = `/v1/customers/${encodeURIComponent(stripeCustomerId)}`;
    const { status, body } = await this.#send('GET', path, null).catch((thrown: unknown) => {
      throw unavailable(`Stripe did not respond (${codeOf(thrown)}).`);
    });
    if (status === 404) return false;
    if (status === 200) return (Object(body) as { deleted?: unknown }).deleted !== true;
    throw unavailable(`Stripe responded with ${status}: ${messageOf(body)}`);
  }

  /**
   * Sum of the events that Stripe has for a customer in [from, to); null: unknown. Events are included with a delay.
   * Source: docs.stripe.com/api/billing/meter-event-summary/list.
   */
  async readTotal(stripeCustomerId: string, fromMs: number, toMs: number): Promise<number | null> {
    try {
      const meterId = await this.#findMeter();
      if (meterId === null) return null;
      const query = new URLSearchParams({
        customer: stripeCustomerId,
        start_time: String(fromMs / 1_000),
        end_time: String(toMs / 1_000),
      });
      const path = `/v1/billing/meters/${encodeURIComponent(meterId)}/event_summaries?${query}`;
      const summaries = await this.#list(path);
      const total = summaries.reduce((sum, { aggregated_value: value }) => sum + Number(value), 0);
      return Number.isFinite(total) ? total : null;
    } catch {
      return null;
    }
  }

  async #findMeter(): Promise<string | null> {
    const now = performance.now();
    if (this.#meterId !== null && now < this.#meterId.until) return this.#meterId.id;
    const meters = await this.#list('/v1/billing/meters?status=active&limit=100');
    const id = meters.find(({ event_name }) => event_name === this.#meter)?.id;
    if (typeof id !== 'string') return null;
    this.#meterId = { id, until: now + METER_CACHE_MS };
    return id;
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async #list(path: string): Promise<readonly Record<string, unknown>[]> {
    const { status, body } = await this.#send('GET', path, null);
    const { data } = Object(body) as { data?: unknown };
    if (status !== 200 || !Array.isArray(data)) throw new Error(`Stripe responded with ${status}`);
    return data as Record<string, unknown>[];
  }

  async #send(method: 'GET' | 'POST', path: string, form: string | null): Promise<StripeResponse> {
    const response = await request(`${this.#limits.apiUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#secretKey}`,
        'stripe-version': API_VERSION,
        ...(form !== null && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      body: form,
      dispatcher: this.#agent,
      signal: AbortSignal.timeout(this.#limits.requestTimeoutMs),
    });
    const text = await response.body.text();
    return { status: response.statusCode, body: parsed(text) };
  }
}

const unavailable = (problem: string): ApiError => new ApiError(503, 'STRIPE_UNAVAILABLE', problem);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const TEXT_MAX = 300;

function messageOf(body: unknown): string {
  const { error } = Object(body) as StripeError;
  return typeof error?.message === 'string' ? error.message.slice(0, TEXT_MAX) : '';
}

/** Returns only the error code, because the message may contain the address. */
function codeOf(thrown: unknown): string {
  const { code, name } = thrown as Readonly<{ code?: unknown; name: string }>;
  return typeof code === 'string' ? code : name;
}
