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
import { statusOfFailure, toFailure } from '../outcome.ts';
import type { PipelineParts } from '../pipeline.ts';
import type { RequestContext } from '../request-context.ts';
import { CallConcurrencyLimiter } from './call-concurrency.ts';
import { RequestDeadline } from './request-deadline.ts';
import { type ResponseLimits, UpstreamCalls } from './upstream-calls.ts';

export type RestLimits = ResponseLimits &
  Readonly<{
    /** Requests a minute per key family and endpoint group. Spec, "Limits". */
    requestsPerMinute: number;
    /** Requests of a key family under way at a time. */
    keyInFlightMax: number;
    /** Calls to the nodes of a network under way at a time, for all requests together; the others wait their turn. */
    callsInFlightMax: number;
    /** Those of one key family. */
    keyCallsInFlightMax: number;
    /** Time for all that a request needs, but for one that brings a file. */
    timeoutMs: number;
    /** Time for one that brings a file, which may come slowly. */
    uploadTimeoutMs: number;
    /** Key families whose requests are counted at a time. */
    familiesMax: number;
  }>;

export const restLimits: RestLimits = {
  requestsPerMinute: 600,
  keyInFlightMax: 100,
  callsInFlightMax: 256,
  keyCallsInFlightMax: 32,
  answerMaxBytes: 8 * 1024 * 1024,
  answersMaxBytes: 64 * 1024 * 1024,
  timeoutMs: 120_000,
  uploadTimeoutMs: 40 * 60_000,
  familiesMax: 100_000,
};

/** The window in which requests of an endpoint group are counted. */
export const restWindowOptions = ({
  requestsPerMinute,
  familiesMax,
}: Pick<RestLimits, 'requestsPerMinute' | 'familiesMax'>) => ({
  requestsMax: requestsPerMinute,
  windowMs: 60_000,
  namesMax: familiesMax * endpointGroups.length,
});

/**
 * Credits that a request holds before its first call to a node, where its endpoint has no price: without them any number
 * at once would pass on the last credit.
 */
const MIN_RESERVED_CREDITS = 1;

/** What came of a request. */
type RestResult = Readonly<{ body: Buffer | null; failure: Failure | null }>;

/**
 * The gate of the REST interface: authenticate, permit, limit by endpoint group, work, meter. What the work asks of nodes goes
 * through `InnerCalls`: it has the caller's identity and is counted for the request, but takes nothing of the key's
 * JSON-RPC rate, of which one request could need more than there is.
 */
export class RestGateway implements RestHandler {
  readonly #parts: PipelineParts;
  readonly #limits: RestLimits;
  readonly #groupLimiter: SlidingWindowLimiter;
  readonly #inFlight = new ConnectionLimit();
  readonly #concurrency: CallConcurrencyLimiter;

  /** @param groups - the windows of endpoint groups, where others count in such too. */
  constructor(
    parts: PipelineParts,
    limits: Partial<RestLimits> = {},
    groupLimiter: SlidingWindowLimiter | null = null,
  ) {
    this.#parts = parts;
    this.#limits = withDefaults(restLimits, limits);
    const { callsInFlightMax, keyCallsInFlightMax } = this.#limits;
    this.#groupLimiter = groupLimiter ?? new SlidingWindowLimiter(restWindowOptions(this.#limits));
    this.#concurrency = new CallConcurrencyLimiter(callsInFlightMax, keyCallsInFlightMax);
  }

  async serve(request: RestRequest, disconnected: AbortSignal): Promise<RestOutcome> {
    const context = this.#parts.meter.startRequest(request.client, request.traceparent);
    const reserve = (credits: number): void =>
      this.#parts.admission.reserveMore(context, request.route.name, credits);
    const calls = new UpstreamCalls(this.#parts, this.#concurrency, this.#limits, context, reserve);
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

  /** The network is none of the head's: the key's rules meet it with each call. */
  #admit(request: RestRequest, context: RequestContext): KeyRecord {
    const { admission } = this.#parts;
    const { group, name } = request.route;
    const key = admission.authenticate(request, 'rpc', null, context);
    admission.authorize(context, name, MIN_RESERVED_CREDITS);
    admission.consumeAddressRate(context);
    context.rateDecision = this.#groupLimiter.take(`${group} ${key.familyId}`, context.startedAt);
    if (!context.rateDecision.allowed) throw rateLimited(context.rateDecision);
    context.limitedAt = performance.now();
    return key;
  }

  #meter(
    { route, bytesIn }: RestRequest,
    context: RequestContext,
    { body, failure }: RestResult,
    calls: UpstreamCalls,
  ): void {
    this.#parts.meter.endRequest(context, {
      wire: 'rest',
      product: 'rpc',
      network: calls.network,
      method: route.name,
      status: failure === null ? 'ok' : statusOfFailure(failure),
      failure,
      rpcCode: 0,
      bytesIn: bytesIn(),
      bytesOut: body?.length ?? 0,
      params: null,
      // What opens a wallet is nobody's but its owner's.
      result: route.holdsSecrets === true ? null : body,
      // A price of the endpoint's own is not asked for what was refused.
      cost: body === null && calls.credits === 0 ? null : calls.credits,
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
    if (failure.code === 'INTERNAL') {
      const facts = { err: failure.cause, keyId: key?.id, endpoint: route.name };
      this.#parts.log.error(facts, 'a REST request went wrong');
    }
    return failure;
  }
}
