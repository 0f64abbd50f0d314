import type { KeyRecord } from '../../access/key-record.ts';
import { checkNetwork } from '../../access/key-rules.ts';
import type { Visit } from '../../access/visit.ts';
import { type JsonValue, parseJson, type WritableJson, writeJson } from '../../base/json.ts';
import type { Answer, Network } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import { methodRow } from '../../protocol/methods.ts';
import { NodeRefusal, nodeErrorOf } from '../../protocol/rest/node-refusal.ts';
import type { RestCaller } from '../../protocol/rest/route.ts';
import { type AskParts, askFor } from '../ask-for.ts';
import type { CallTurns } from './call-turns.ts';

/** What nodes may answer to one request, in bytes: reading it keeps everybody else waiting. */
export type AnswerLimits = Readonly<{
  /** One answer. */
  answerMaxBytes: number;
  /** All answers together. */
  answersMaxBytes: number;
}>;

/** The calls to nodes that one REST request is made of, and what they cost. */
export class InnerCalls {
  readonly #parts: AskParts;
  readonly #turns: CallTurns;
  readonly #limits: AnswerLimits;
  readonly #visit: Visit;
  readonly #hold: (credits: number) => void;
  #count = 0;
  #credits = 0;
  /** Credits of the calls that have begun. */
  #begun = 0;
  #bytes = 0;
  #network: Network | null = null;

  /** @param hold - told, before a call, what those that have begun will cost in all. */
  constructor(
    parts: AskParts,
    turns: CallTurns,
    limits: AnswerLimits,
    visit: Visit,
    hold: (credits: number) => void,
  ) {
    this.#parts = parts;
    this.#hold = hold;
    this.#visit = visit;
    this.#turns = turns;
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
  callerOf(key: KeyRecord, signal: AbortSignal): RestCaller {
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
      ask: async (network, method, params) => {
        useNetwork(network);
        const since = performance.now();
        return this.#turns.run(ownerId, network, () => {
          this.#visit.trace?.waited(since);
          return this.#ask(network, method, params, signal);
        });
      },
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
    this.#begun += row.cost;
    this.#hold(this.#begun);
    const { key, trace } = this.#visit;
    const floor = key === null ? null : this.#parts.sessions?.floorFor(key, network, null);
    const asked = { network, method, row, params: Buffer.from(writeJson(params)), trace };
    const call = floor == null ? asked : { ...asked, floor };
    const answer = await askFor(this.#parts, this.#visit, call, signal).catch(unlessOurs);
    this.#credits += row.cost;
    this.#weigh(answer);
    return resultOf(answer);
  }

  /** @throws Failure ANSWER_TOO_LARGE */
  #weigh({ body }: Answer): void {
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
function unlessOurs(thrown: unknown): never {
  if (thrown instanceof Failure && thrown.row.http === 200) {
    throw new Failure('UPSTREAM_UNAVAILABLE', { cause: thrown });
  }
  throw thrown;
}

function resultOf({ body, errorCode }: Answer): JsonValue {
  let value: JsonValue;
  try {
    value = parseJson(body.toString('utf8'));
  } catch (cause) {
    throw new Failure('UPSTREAM_UNAVAILABLE', { cause });
  }
  if (errorCode === 0) return value;
  throw new NodeRefusal(nodeErrorOf(value, errorCode) ?? { code: errorCode, message: '' });
}
