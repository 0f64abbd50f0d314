import { withDefaults } from '../../base/with-defaults.ts';
import { Failure } from '../../protocol/errors.ts';
import {
  endpointGroups,
  type RestHandler,
  type RestOutcome,
  type RestRequest,
} from '../../protocol/rest/route.ts';
import { rateLimited } from '../admission.ts';
import type { KeyRecord } from '../auth/key-record.ts';
import { ConnectionLimit } from '../limits/connection-limit.ts';
import { SlidingWindowLimiter } from '../limits/sliding-window-limiter.ts';
import {
  emptyRequest,
  logInternalError,
  type RequestContext,
  statusOfFailure,
  toFailure,
} from '../metering/call-meter.ts';
import type { PipelineParts } from '../pipeline.ts';
import { type RestLimits, restLimits } from './limits.ts';
import {
  CallConcurrencyLimiter,
  ParsedResponses,
  type SharedByRequests,
  UpstreamCalls,
} from './upstream-calls.ts';

export const restWindowOptions = (
  limits: Pick<RestLimits, 'requestsPerMinute' | 'familiesMax'>,
  isShared = false,
) => ({
  // Read on each use, because a reload may change the limit.
  get requestsMax() {
    return limits.requestsPerMinute;
  },
  windowMs: 60_000,
  namesMax: limits.familiesMax * endpointGroups.length,
  isShared,
});

/** Credits reserved for an endpoint without a price, so that one remaining credit does not admit many requests. */
const MIN_RESERVED_CREDITS = 1;

type RestResult = Readonly<{ body: Buffer | null; failure: Failure | null }>;

/** Serves REST requests. Their upstream calls cost credits but do not count against the JSON-RPC rate limit. */
export class RestGateway implements RestHandler {
  readonly #parts: PipelineParts;
  readonly #limits: RestLimits;
  readonly #groupLimiter: SlidingWindowLimiter;
  readonly #inFlight = new ConnectionLimit();
  readonly #shared: SharedByRequests;

  /** @param groupLimiter - null: endpoint groups are counted in this process only. */
  constructor(
    parts: PipelineParts,
    limits: Partial<RestLimits> = {},
    groupLimiter: SlidingWindowLimiter | null = null,
  ) {
    this.#parts = parts;
    this.#limits = withDefaults(restLimits, limits);
    const { callsInFlightMax, keyCallsInFlightMax } = this.#limits;
    this.#groupLimiter = groupLimiter ?? new SlidingWindowLimiter(restWindowOptions(this.#limits));
    const concurrency = new CallConcurrencyLimiter(callsInFlightMax, keyCallsInFlightMax);
    this.#shared = { concurrency, parsed: new ParsedResponses() };
  }

  async serve(request: RestRequest, disconnected: AbortSignal): Promise<RestOutcome> {
    const context = this.#parts.meter.startRequest(request.client, request.traceparent);
    const { name } = request.route;
    const calls = new UpstreamCalls(this.#parts, this.#shared, this.#limits, context, name);
    let body: Buffer | null = null;
    let failure: Failure | null = null;
    try {
      const key = this.#admit(request, context);
      body = await this.#work(key, request, calls, disconnected);
    } catch (thrown) {
      failure = this.#explain(thrown, context.key, request);
    }
    this.#meter(request, context, { body, failure }, calls);
    const facts = { ...this.#parts.admission.limitStatus(context), calls: calls.count };
    return failure === null && body !== null
      ? { body, failure: null, ...facts }
      : { body: null, failure: failure ?? new Failure('INTERNAL'), ...facts };
  }

  /** The network is not yet known, so each upstream call checks the key's network rule. */
  #admit(request: RestRequest, context: RequestContext): KeyRecord {
    const { admission } = this.#parts;
    const { group, name } = request.route;
    const key = admission.authenticate(request, 'rpc', null, context);
    admission.authorize(context, name, MIN_RESERVED_CREDITS);
    admission.consumeAddressRate(context);
    context.rateDecision = this.#groupLimiter.consume(`${group} ${key.familyId}`, context.startedAt);
    if (!context.rateDecision.allowed) throw rateLimited(context.rateDecision);
    context.limitedAt = performance.now();
    return key;
  }

  #meter(request: RestRequest, context: RequestContext, result: RestResult, calls: UpstreamCalls): void {
    const { route, bytesIn } = request;
    const { body, failure } = result;
    this.#parts.meter.endRequest(context, {
      ...emptyRequest,
      wire: 'rest',
      product: 'rpc',
      network: calls.network,
      method: route.name,
      failure,
      status: failure === null ? 'ok' : statusOfFailure(failure),
      detail: failure === null ? null : calls.errorDetail,
      bytesIn: bytesIn(),
      bytesOut: body?.length ?? 0,
      // Keep wallet private keys out of the request log.
      result: route.holdsSecrets === true ? null : body,
      // A failed request that used no credits upstream is not charged the endpoint's own price either.
      credits: body === null && calls.credits === 0 ? null : calls.credits,
    });
  }

  async #work(
    key: KeyRecord,
    { execute, route }: RestRequest,
    calls: UpstreamCalls,
    disconnected: AbortSignal,
  ): Promise<Buffer> {
    const { keyInFlightMax, timeoutMs, uploadTimeoutMs } = this.#limits;
    const { familyId } = key;
    if (!this.#inFlight.tryAcquire(familyId, keyInFlightMax)) {
      throw new Failure('OVERLOADED', { facts: { keyInFlightMax } });
    }
    using time = new RequestDeadline(route.bodyType === 'upload' ? uploadTimeoutMs : timeoutMs, disconnected);
    try {
      return await execute(calls.createCaller(key, time.signal));
    } catch (thrown) {
      throw time.reasonOf(thrown);
    } finally {
      this.#inFlight.release(familyId);
    }
  }

  #explain(thrown: unknown, key: KeyRecord | null, { route }: RestRequest): Failure {
    const failure = toFailure(thrown);
    logInternalError(this.#parts.log, failure, { keyId: key?.id, endpoint: route.name });
    return failure;
  }
}

/** Aborts a request on disconnect, on timeout and on disposal. */
class RequestDeadline implements Disposable {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #onDisconnect = (): void => this.#controller.abort(new Failure('CLIENT_GONE'));

  constructor(maxMs: number, disconnected: AbortSignal) {
    this.#timer = setTimeout(() => this.#controller.abort(new Failure('UPSTREAM_TIMEOUT')), maxMs);
    if (disconnected.aborted) this.#onDisconnect();
    else disconnected.addEventListener('abort', this.#onDisconnect, { signal: this.signal });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The abort reason takes precedence over the error that the abort caused. */
  reasonOf(thrown: unknown): unknown {
    return this.#controller.signal.aborted ? this.#controller.signal.reason : thrown;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#onDisconnect();
  }
}
