import { type Weighted, WeightedLru } from '../../base/cache/weighted-lru.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { type JsonValue, parseJson, type WritableJson, writeJson } from '../../base/json.ts';
import type { CallTrace, Network, RpcDispatcher, RpcResponse } from '../../protocol/call.ts';
import { type CallAttempt, Failure } from '../../protocol/errors.ts';
import { methodRow, methods, methodTraits } from '../../protocol/methods.ts';
import { NodeRejection, parseNodeError } from '../../protocol/rest/node-rejection.ts';
import type { RestCaller } from '../../protocol/rest/route.ts';
import { request } from '../../protocol/rpc-dispatcher.ts';
import { signatureOfParams } from '../../upstream/transaction-signature.ts';
import type { KeyRecord } from '../auth/key-record.ts';
import { checkNetwork } from '../auth/key-rules.ts';
import type { RequestContext } from '../metering/call-meter.ts';
import type { PipelineParts } from '../pipeline.ts';
import type { ErrorDetail } from '../telemetry/request-result.ts';
import { forwardCall } from '../telemetry/submission-log.ts';

/** Maximum number of failed attempts to report with a failed request. */
const FAILED_MAX = 16;

type KeySemaphore = { readonly semaphore: Semaphore; calls: number };

/** Prevents one customer or one slow network from delaying others. The limit on REST requests bounds the queue. */
export class CallConcurrencyLimiter {
  readonly #networkMax: number;
  readonly #networkSemaphores = new Map<Network, Semaphore>();
  readonly #keyMax: number;
  readonly #keySemaphores = new Map<string, KeySemaphore>();

  /** @param keyMax - maximum concurrent calls per key family and network. */
  constructor(networkMax: number, keyMax: number) {
    this.#networkMax = networkMax;
    this.#keyMax = keyMax;
  }

  async run<T>(familyId: string, network: Network, call: () => Promise<T>): Promise<T> {
    const name = `${network} ${familyId}`;
    const shared = this.#networkSemaphores.get(network) ?? new Semaphore(this.#networkMax);
    this.#networkSemaphores.set(network, shared);
    const entry = this.#keySemaphores.get(name) ?? { semaphore: new Semaphore(this.#keyMax), calls: 0 };
    this.#keySemaphores.set(name, entry);
    entry.calls++;
    try {
      return await entry.semaphore.run(() => shared.run(call));
    } finally {
      if (--entry.calls === 0) this.#keySemaphores.delete(name);
    }
  }
}

/** Maximum bytes per upstream response and, in total, per REST request, because parsing blocks the event loop. */
type ResponseLimits = Readonly<{ answerMaxBytes: number; answersMaxBytes: number }>;

const PARSED_MAX = 10_000;
/** Estimated memory. */
const PARSED_MAX_BYTES = 64 * 1024 * 1024;
/** Measured memory of a parsed transaction and of the data decoded from it, per byte of JSON. */
const MEMORY_PER_BYTE = 5;

/**
 * Parsed getTransaction results by response buffer. The response cache returns the same buffer each time, so a repeated
 * response is not parsed again. It is not decoded again either, because decoders remember the parsed object.
 */
export class ParsedResponses {
  readonly #values = new WeightedLru<Buffer, Weighted & Readonly<{ value: JsonValue }>>(
    PARSED_MAX,
    PARSED_MAX_BYTES,
  );

  /** @throws SyntaxError */
  readonly parse = (body: Buffer): JsonValue => {
    const cached = this.#values.get(body);
    if (cached !== undefined) return cached.value;
    const value = parseBody(body);
    // A body that is a view keeps the whole underlying buffer alive.
    this.#values.set(body, {
      value,
      weight: Math.max(body.length * MEMORY_PER_BYTE, body.buffer.byteLength),
    });
    return value;
  };
}

export type SharedByRequests = Readonly<{ concurrency: CallConcurrencyLimiter; parsed: ParsedResponses }>;

/** The upstream calls of one REST request and their credits. Calls answered without a node do not count. */
export class UpstreamCalls {
  readonly #parts: PipelineParts;
  readonly #dispatcher: Pick<RpcDispatcher, 'dispatch'>;
  readonly #shared: SharedByRequests;
  readonly #limits: ResponseLimits;
  readonly #context: RequestContext;
  readonly #endpoint: string;
  #count = 0;
  #credits = 0;
  #startedCredits = 0;
  #bytes = 0;
  #network: Network | null = null;
  /** Attempts of calls that failed. */
  readonly #failedAttempts: CallAttempt[] = [];
  #signature: string | null = null;

  /** @param endpoint - name under which the calls are charged. */
  constructor(
    parts: PipelineParts,
    shared: SharedByRequests,
    limits: ResponseLimits,
    context: RequestContext,
    endpoint: string,
  ) {
    this.#parts = parts;
    const source = parts.source;
    this.#dispatcher = {
      dispatch: (call, handler) => forwardCall(source, parts.submissions, context.key, call, handler),
    };
    this.#endpoint = endpoint;
    this.#context = context;
    this.#shared = shared;
    this.#limits = limits;
  }

  get count(): number {
    return this.#count;
  }

  /** Credits of the calls that nodes answered. */
  get credits(): number {
    return this.#credits;
  }

  /** For the log of a failed request. */
  get errorDetail(): ErrorDetail {
    return { attempts: this.#failedAttempts, signature: this.#signature };
  }

  /** Null until the request names a network. */
  get network(): Network | null {
    return this.#network;
  }

  /** @param signal - its abort reason must be a Failure. */
  createCaller(key: KeyRecord, signal: AbortSignal): RestCaller {
    const { familyId: ownerId } = key;
    const useNetwork = (network: Network): void => {
      this.#network = network;
      checkNetwork(key, network);
    };
    return {
      ownerId,
      signal,
      useNetwork,
      countCall: () => {
        this.#count++;
      },
      request: async (network, method, params) => {
        useNetwork(network);
        const since = performance.now();
        return this.#shared.concurrency.run(ownerId, network, () => {
          this.#context.trace?.recordQueueTime(since);
          return this.#request(network, method, params, signal);
        });
      },
    };
  }

  async #request(
    network: Network,
    method: string,
    params: readonly WritableJson[],
    signal: AbortSignal,
  ): Promise<JsonValue> {
    signal.throwIfAborted();
    const row = methodRow(method);
    this.#count++;
    this.#startedCredits += row.credits;
    this.#parts.admission.reserveMore(this.#context, this.#endpoint, this.#startedCredits);
    const { key } = this.#context;
    let needsNode = true;
    const trace: CallTrace = {
      onAttempt: (attempt) => {
        needsNode = true;
        this.#context.trace?.onAttempt(attempt);
      },
      onServedFrom: (from, startedAt) => {
        needsNode = false;
        this.#context.trace?.onServedFrom?.(from, startedAt);
      },
    };
    const minSlot = key === null ? null : (this.#parts.sessions?.minSlotFor(key, network, null) ?? null);
    const origin = { trace, minSlot, usesDisk: true };
    const call = { network, method, row, params: Buffer.from(writeJson(params)), ...origin };
    if (methodTraits[row.kind].signed) this.#signature = signatureOfParams(call.params);
    const response = await request(this.#dispatcher, call, signal).catch((thrown: unknown) => {
      if (thrown instanceof Failure) this.#addFailed(thrown.attempts);
      return rethrowAsUpstreamFailure(thrown);
    });
    if (response.errorCode !== 0) this.#addFailed(response.attempts ?? []);
    if (needsNode) this.#credits += row.credits;
    else {
      this.#count--;
      this.#startedCredits -= row.credits;
    }
    this.#checkSize(response);
    return resultOf(response, row === methods.getTransaction ? this.#shared.parsed.parse : parseBody);
  }

  #addFailed(attempts: readonly CallAttempt[]): void {
    const free = FAILED_MAX - this.#failedAttempts.length;
    this.#failedAttempts.push(...attempts.slice(0, Math.max(0, free)));
  }

  #checkSize({ body }: RpcResponse): void {
    const { answerMaxBytes, answersMaxBytes } = this.#limits;
    this.#bytes += body.length;
    if (body.length > answerMaxBytes) throw new Failure('ANSWER_TOO_LARGE', { facts: { answerMaxBytes } });
    if (this.#bytes > answersMaxBytes) throw new Failure('ANSWER_TOO_LARGE', { facts: { answersMaxBytes } });
  }
}

/** Replaces the Failure for a malformed call: the endpoint is at fault, and the Failure would be sent with HTTP 200. */
function rethrowAsUpstreamFailure(thrown: unknown): never {
  if (thrown instanceof Failure && thrown.row.http === 200) {
    throw new Failure('UPSTREAM_UNAVAILABLE', { cause: thrown });
  }
  throw thrown;
}

const parseBody = (body: Buffer): JsonValue => parseJson(body.toString('utf8'));

function resultOf({ body, errorCode }: RpcResponse, parse: (body: Buffer) => JsonValue): JsonValue {
  let value: JsonValue;
  try {
    value = parse(body);
  } catch (cause) {
    throw new Failure('UPSTREAM_UNAVAILABLE', { cause });
  }
  if (errorCode === 0) return value;
  throw new NodeRejection(parseNodeError(value, errorCode) ?? { code: errorCode, message: '' });
}
