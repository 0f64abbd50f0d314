import { type JsonValue, parseJson, type WritableJson, writeJson } from '../../base/json.ts';
import type { Network, RpcResponse } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import { methodRow } from '../../protocol/methods.ts';
import { NodeRefusal, parseNodeError } from '../../protocol/rest/node-refusal.ts';
import type { RestCaller } from '../../protocol/rest/route.ts';
import type { KeyRecord } from '../auth/key-record.ts';
import { checkNetwork } from '../auth/key-rules.ts';
import { type ForwardParts, forwardCallAsync } from '../forward-call.ts';
import type { RequestContext } from '../request-context.ts';
import type { CallConcurrencyLimiter } from './call-concurrency.ts';

/** What nodes may answer to one request, in bytes: reading it keeps everybody else waiting. */
export type ResponseLimits = Readonly<{
  /** One answer. */
  answerMaxBytes: number;
  /** All answers together. */
  answersMaxBytes: number;
}>;

/** The calls to nodes that one REST request is made of, and what they cost. */
export class UpstreamCalls {
  readonly #parts: ForwardParts;
  readonly #concurrency: CallConcurrencyLimiter;
  readonly #limits: ResponseLimits;
  readonly #context: RequestContext;
  readonly #reserve: (credits: number) => void;
  #count = 0;
  #credits = 0;
  /** Credits of the calls that have begun. */
  #startedCredits = 0;
  #bytes = 0;
  #network: Network | null = null;

  /** @param hold - told, before a call, what those that have begun will cost in all. */
  constructor(
    parts: ForwardParts,
    concurrency: CallConcurrencyLimiter,
    limits: ResponseLimits,
    context: RequestContext,
    reserve: (credits: number) => void,
  ) {
    this.#parts = parts;
    this.#reserve = reserve;
    this.#context = context;
    this.#concurrency = concurrency;
    this.#limits = limits;
  }

  /** How many were made. */
  get count(): number {
    return this.#count;
  }

  /** What those cost that were answered. */
  get credits(): number {
    return this.#credits;
  }

  /** The network that the request named; null: none. */
  get network(): Network | null {
    return this.#network;
  }

  /** @param signal - aborted with a Failure as its reason. */
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
        return this.#concurrency.run(ownerId, network, () => {
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
    this.#startedCredits += row.cost;
    this.#reserve(this.#startedCredits);
    const { key, trace } = this.#context;
    const minSlot = key === null ? null : this.#parts.sessions?.minSlotFor(key, network, null);
    const base = { network, method, row, params: Buffer.from(writeJson(params)), trace };
    const call = minSlot == null ? base : { ...base, minSlot };
    const response = await forwardCallAsync(this.#parts, this.#context, call, signal).catch(
      rethrowAsUpstreamFailure,
    );
    this.#credits += row.cost;
    this.#checkSize(response);
    return resultOf(response);
  }

  /** @throws Failure ANSWER_TOO_LARGE */
  #checkSize({ body }: RpcResponse): void {
    const { answerMaxBytes, answersMaxBytes } = this.#limits;
    this.#bytes += body.length;
    if (body.length > answerMaxBytes) throw new Failure('ANSWER_TOO_LARGE', { facts: { answerMaxBytes } });
    if (this.#bytes > answersMaxBytes) throw new Failure('ANSWER_TOO_LARGE', { facts: { answersMaxBytes } });
  }
}

/**
 * What nodes say of the form of a call is about the endpoint, which wrote it, and not about who asked; the failures
 * that JSON-RPC has for it would moreover go out with status 200.
 */
function rethrowAsUpstreamFailure(thrown: unknown): never {
  if (thrown instanceof Failure && thrown.row.http === 200) {
    throw new Failure('UPSTREAM_UNAVAILABLE', { cause: thrown });
  }
  throw thrown;
}

function resultOf({ body, errorCode }: RpcResponse): JsonValue {
  let value: JsonValue;
  try {
    value = parseJson(body.toString('utf8'));
  } catch (cause) {
    throw new Failure('UPSTREAM_UNAVAILABLE', { cause });
  }
  if (errorCode === 0) return value;
  throw new NodeRefusal(parseNodeError(value, errorCode) ?? { code: errorCode, message: '' });
}
