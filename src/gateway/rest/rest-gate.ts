import { ConnectionLimit } from '../../access/connection-limit.ts';
import type { KeyRecord } from '../../access/key-record.ts';
import type { RateDecision } from '../../access/rate-limit.ts';
import { WindowLimit } from '../../access/window-limit.ts';
import { Turnstile } from '../../base/turnstile.ts';
import { Failure } from '../../protocol/errors.ts';
import {
  endpointGroups,
  type RestDoor,
  type RestOutcome,
  type RestRequest,
} from '../../protocol/rest/route.ts';
import { explain, limited, statusOfFailure } from '../outcome.ts';
import type { PipelineParts } from '../pipeline.ts';
import { InnerCalls } from './inner-calls.ts';

export type RestLimits = Readonly<{
  /** Requests a minute per key family and endpoint group. Spec, "Limits". */
  requestsPerMinute: number;
  /** Requests of a key family under way at a time. */
  keyInFlightMax: number;
  /** Calls to nodes under way at a time, for all requests together; the others wait their turn. */
  callsInFlightMax: number;
  /** Time for all that a request needs. */
  timeoutMs: number;
  /** Key families whose requests are counted at a time. */
  familiesMax: number;
}>;

export const restLimits: RestLimits = {
  requestsPerMinute: 600,
  keyInFlightMax: 100,
  callsInFlightMax: 256,
  timeoutMs: 120_000,
  familiesMax: 100_000,
};

const WINDOW_MS = 60_000;

/**
 * The gate of the REST interface: authenticate, limit by endpoint group, work, meter. What the work asks of nodes goes
 * through `InnerCalls`: it has the caller's identity and is counted for the request, but takes nothing of the key's
 * JSON-RPC rate, of which one request could need more than there is.
 */
export class RestGate implements RestDoor {
  readonly #parts: PipelineParts;
  readonly #limits: RestLimits;
  readonly #groups: WindowLimit;
  readonly #underWay = new ConnectionLimit();
  readonly #callTurns: Turnstile;

  constructor(parts: PipelineParts, limits: Partial<RestLimits> = {}) {
    this.#parts = parts;
    this.#limits = { ...restLimits, ...limits };
    const { requestsPerMinute, familiesMax, callsInFlightMax } = this.#limits;
    const namesMax = familiesMax * endpointGroups.length;
    this.#groups = new WindowLimit({ requestsMax: requestsPerMinute, windowMs: WINDOW_MS, namesMax });
    this.#callTurns = new Turnstile(callsInFlightMax);
  }

  async serve(request: RestRequest, leaving: AbortSignal): Promise<RestOutcome> {
    const startedAt = performance.now();
    const calls = new InnerCalls(this.#parts.source, this.#callTurns);
    let key: KeyRecord | null = null;
    let rate: RateDecision | null = null;
    let work: Awaited<ReturnType<RestRequest['work']>> | null = null;
    let failure: Failure | null = null;
    try {
      key = this.#parts.keys.authenticate(request.credential, 'rpc', Date.now());
      rate = this.#groups.take(`${request.route.group} ${key.familyId}`, startedAt);
      if (!rate.allowed) throw limited(rate);
      work = await this.#work(key, request, calls, leaving);
    } catch (thrown) {
      failure = this.#explain(thrown, key, request);
    }
    const { product, method, credits } = {
      product: 'rpc',
      method: request.route.name,
      credits: calls.credits,
    } as const;
    const latencyMicros = (performance.now() - startedAt) * 1_000;
    const status = failure === null ? 'ok' : statusOfFailure(failure);
    const bytes = { bytesIn: work?.bytesIn ?? 0, bytesOut: work?.body.length ?? 0 };
    this.#parts.usage.record({ key, product, method, status, ...bytes, credits, latencyMicros }, Date.now());
    const facts = { rateLimit: rate?.state ?? null, calls: calls.count };
    if (failure === null && work !== null) return { body: work.body, failure: null, ...facts };
    return { body: null, failure: failure ?? new Failure('INTERNAL'), ...facts };
  }

  async #work(key: KeyRecord, { work }: RestRequest, calls: InnerCalls, leaving: AbortSignal) {
    const { keyInFlightMax, timeoutMs } = this.#limits;
    if (!this.#underWay.take(key.familyId, keyInFlightMax)) {
      throw new Failure('OVERLOADED', { facts: { keyInFlightMax } });
    }
    const end = new AbortController();
    const leave = (): void => end.abort(new Failure('CLIENT_GONE'));
    const timer = setTimeout(() => end.abort(new Failure('UPSTREAM_TIMEOUT')), timeoutMs);
    if (leaving.aborted) leave();
    else leaving.addEventListener('abort', leave, { once: true });
    try {
      return await work(calls.callerOf(key.familyId, end.signal));
    } catch (thrown) {
      // What failed because its time was over says so, whatever it was that was cut short.
      throw end.signal.aborted ? end.signal.reason : thrown;
    } finally {
      clearTimeout(timer);
      leaving.removeEventListener('abort', leave);
      // Ends what nobody waits for any more.
      end.abort(new Failure('CLIENT_GONE'));
      this.#underWay.giveBack(key.familyId);
    }
  }

  #explain(thrown: unknown, key: KeyRecord | null, { route }: RestRequest): Failure {
    const failure = explain(thrown);
    if (failure.code === 'INTERNAL') {
      const facts = { err: failure.cause, keyId: key?.id, endpoint: route.name };
      this.#parts.log.error(facts, 'a REST request went wrong');
    }
    return failure;
  }
}
