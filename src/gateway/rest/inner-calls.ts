import { type JsonValue, parseJson, type WritableJson, writeJson } from '../../base/json.ts';
import type { Turnstile } from '../../base/turnstile.ts';
import type { Answer, Network, Source } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import { methodRow } from '../../protocol/methods.ts';
import { type NodeError, NodeRefusal } from '../../protocol/rest/node-refusal.ts';
import type { RestCaller } from '../../protocol/rest/route.ts';

/** The calls to nodes that one REST request is made of, and what they cost. */
export class InnerCalls {
  readonly #source: Source;
  readonly #turns: Turnstile;
  #count = 0;
  #credits = 0;

  constructor(source: Source, turns: Turnstile) {
    this.#source = source;
    this.#turns = turns;
  }

  /** How many were made. */
  get count(): number {
    return this.#count;
  }

  /** What those cost that were answered. */
  get credits(): number {
    return this.#credits;
  }

  /** @param signal - aborted with a Failure as its reason. */
  callerOf(ownerId: string, signal: AbortSignal): RestCaller {
    return {
      ownerId,
      signal,
      ask: (network, method, params) => this.#turns.run(() => this.#ask(network, method, params, signal)),
    };
  }

  async #ask(
    network: Network,
    method: string,
    params: readonly WritableJson[],
    signal: AbortSignal,
  ): Promise<JsonValue> {
    signal.throwIfAborted();
    const row = methodRow(method);
    this.#count++;
    const call = { network, method, row, params: Buffer.from(writeJson(params)) };
    const answer = await this.#source.ask(call, signal);
    this.#credits += row.cost;
    return resultOf(answer);
  }
}

function resultOf({ body, errorCode }: Answer): JsonValue {
  let value: JsonValue;
  try {
    value = parseJson(body.toString('utf8'));
  } catch (cause) {
    throw new Failure('UPSTREAM_UNAVAILABLE', { cause });
  }
  if (errorCode === 0) return value;
  throw new NodeRefusal(nodeErrorOf(value, errorCode));
}

function nodeErrorOf(value: JsonValue, code: number): NodeError {
  const members = value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};
  const message = typeof members.message === 'string' ? members.message : '';
  return members.data === undefined ? { code, message } : { code, message, data: members.data };
}
