import { limited } from '../../access/admission.ts';
import { ConnectionLimit } from '../../access/connection-limit.ts';
import type { KeyRecord } from '../../access/key-record.ts';
import type { Visit } from '../../access/visit.ts';
import { WindowLimit } from '../../access/window-limit.ts';
import { withDefaults } from '../../base/with-defaults.ts';
import { Failure } from '../../protocol/errors.ts';
import {
  endpointGroups,
  type RestDoor,
  type RestOutcome,
  type RestRequest,
} from '../../protocol/rest/route.ts';
import { explain, statusOfFailure } from '../outcome.ts';
import type { PipelineParts } from '../pipeline.ts';
import { CallTurns } from './call-turns.ts';
import { type AnswerLimits, InnerCalls } from './inner-calls.ts';
import { RequestTime } from './request-time.ts';

export type RestLimits = AnswerLimits &
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
const LEAST_HELD = 1;

/** What came of a request. */
type Answer = Readonly<{ body: Buffer | null; failure: Failure | null }>;

/**
 * The gate of the REST interface: authenticate, permit, limit by endpoint group, work, meter. What the work asks of nodes goes
 * through `InnerCalls`: it has the caller's identity and is counted for the request, but takes nothing of the key's
 * JSON-RPC rate, of which one request could need more than there is.
 */
export class RestGate implements RestDoor {
  readonly #parts: PipelineParts;
  readonly #limits: RestLimits;
  readonly #groups: WindowLimit;
  readonly #underWay = new ConnectionLimit();
  readonly #callTurns: CallTurns;

  /** @param groups - the windows of endpoint groups, where others count in such too. */
  constructor(parts: PipelineParts, limits: Partial<RestLimits> = {}, groups: WindowLimit | null = null) {
    this.#parts = parts;
    this.#limits = withDefaults(restLimits, limits);
    const { callsInFlightMax, keyCallsInFlightMax } = this.#limits;
    this.#groups = groups ?? new WindowLimit(restWindowOptions(this.#limits));
    this.#callTurns = new CallTurns(callsInFlightMax, keyCallsInFlightMax);
  }

  async serve(request: RestRequest, leaving: AbortSignal): Promise<RestOutcome> {
    const visit = this.#parts.meter.begin(request.client, request.traceparent);
    const hold = (credits: number): void =>
      this.#parts.admission.holdMore(visit, request.route.name, credits);
    const calls = new InnerCalls(this.#parts, this.#callTurns, this.#limits, visit, hold);
    let body: Buffer | null = null;
    let failure: Failure | null = null;
    try {
      const key = this.#admit(request, visit);
      body = await this.#work(key, request, calls, leaving);
    } catch (thrown) {
      failure = this.#explain(thrown, visit.key, request);
    }
    this.#meter(request, visit, { body, failure }, calls);
    const facts = { ...this.#parts.admission.shown(visit), calls: calls.count };
    return failure === null && body !== null
      ? { body, failure: null, ...facts }
      : { body: null, failure: failure ?? new Failure('INTERNAL'), ...facts };
  }

  /** The network is none of the head's: the key's rules meet it with each call. */
  #admit(request: RestRequest, visit: Visit): KeyRecord {
    const { admission } = this.#parts;
    const { group, name } = request.route;
    const key = admission.identify(request, 'rpc', null, visit);
    admission.permit(visit, name, LEAST_HELD);
    admission.takeAddressRate(visit);
    visit.rate = this.#groups.take(`${group} ${key.familyId}`, visit.startedAt);
    if (!visit.rate.allowed) throw limited(visit.rate);
    visit.limitedAt = performance.now();
    return key;
  }

  #meter({ route, bytesIn }: RestRequest, visit: Visit, { body, failure }: Answer, calls: InnerCalls): void {
    this.#parts.meter.end(visit, {
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
    { work, route }: RestRequest,
    calls: InnerCalls,
    leaving: AbortSignal,
  ): Promise<Buffer> {
    const { keyInFlightMax, timeoutMs, uploadTimeoutMs } = this.#limits;
    const { familyId } = key;
    if (!this.#underWay.take(familyId, keyInFlightMax)) {
      throw new Failure('OVERLOADED', { facts: { keyInFlightMax } });
    }
    using time = new RequestTime(route.takes === 'upload' ? uploadTimeoutMs : timeoutMs, leaving);
    try {
      return await work(calls.callerOf(key, time.signal));
    } catch (thrown) {
      throw time.reasonOf(thrown);
    } finally {
      this.#underWay.giveBack(familyId);
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
