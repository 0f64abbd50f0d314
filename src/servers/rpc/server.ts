import type { IncomingMessage, ServerResponse } from 'node:http';
import { inOrder } from '../../base/in-order.ts';
import type { Network } from '../../protocol/call.ts';
import {
  decodeEnvelope,
  type Envelope,
  type EnvelopeItem,
  type EnvelopeLimits,
  envelopeLimits,
} from '../../protocol/envelope.ts';
import { endSingle, joinBatch, pushAnswer, pushFailure } from '../../protocol/envelope-answer.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Caller, Door, LimitFacts } from '../../protocol/serve.ts';
import { noProxies, type TrustedProxies } from '../client-address.ts';
import { credentialOf } from '../credential.ts';
import { refuse } from '../http-refuse.ts';
import type { HttpHandler, HttpRoutes } from '../http-route.ts';
import { leavingSignal } from '../leaving.ts';
import { BodyBudget, isJsonType, readBody } from '../request-body.ts';
import { traceparentOf } from '../traceparent.ts';
import { answerHeaders, preflightHeaders, send } from './encode.ts';
import { type Ending, sharedFailure, statusOfSingle } from './errors.ts';

export type RpcServerOptions = Readonly<{
  path: string;
  /** The network that calls on this path go to. */
  network: Network;
  bodyMaxBytes: number;
  /** Bytes of bodies that all requests together may hold; beyond them, requests get OVERLOADED. */
  bodiesMaxBytes: number;
  /** Calls of one batch that are on their way at a time. */
  batchConcurrency: number;
  envelope: EnvelopeLimits;
  proxies: TrustedProxies;
}>;

export const rpcServerOptions: RpcServerOptions = {
  path: '/v1/rpc',
  network: 'mainnet-beta',
  bodyMaxBytes: 1024 * 1024,
  bodiesMaxBytes: 256 * 1024 * 1024,
  batchConcurrency: 8,
  envelope: envelopeLimits,
  proxies: noProxies,
};

/** What one call of a body led to. No pieces: it has no answer. */
type Reply = { pieces: Buffer[]; ending: Ending; limits: LimitFacts };

const noLimits: LimitFacts = { rateLimit: null };

/** JSON-RPC over HTTP: POST for calls, OPTIONS for browsers. */
export function rpcRoutes(door: Door, options: Partial<RpcServerOptions> = {}): HttpRoutes {
  const dialect = new RpcDialect(door, { ...rpcServerOptions, ...options });
  const post: HttpHandler = (request, response, query) => dialect.answer(request, response, query);
  const preflight: HttpHandler = (_request, response) => {
    response.writeHead(204, preflightHeaders);
    response.end();
  };
  const verbs = new Map([
    ['POST', post],
    ['OPTIONS', preflight],
  ]);
  return new Map([[dialect.options.path, verbs]]);
}

class RpcDialect {
  readonly options: RpcServerOptions;
  readonly #door: Door;
  readonly #budget: BodyBudget;

  constructor(door: Door, options: RpcServerOptions) {
    this.#door = door;
    this.#budget = new BodyBudget(options.bodiesMaxBytes);
    this.options = options;
  }

  /** From the bytes of a request to the bytes of its answer. */
  async answer(request: IncomingMessage, response: ServerResponse, query: string): Promise<void> {
    const { batchConcurrency, proxies } = this.options;
    const client = proxies.clientOf(request.socket, request.headers);
    const traceparent = traceparentOf(request.headers);
    const caller: Caller = { credential: credentialOf(request, query), client, traceparent };
    const envelope = await this.#receive(request, response, caller);
    if (envelope === null) return;
    const leaving = leavingSignal(request.socket);
    const reply = (item: EnvelopeItem): Promise<Reply> => this.#reply(item, caller, leaving);
    if (envelope.batch) this.#sendBatch(response, await inOrder(envelope.items, batchConcurrency, reply));
    else this.#sendSingle(response, await reply(envelope.items[0] as EnvelopeItem));
  }

  /** The decoded body; null when the request was refused already or its sender is gone. */
  async #receive(
    request: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
  ): Promise<Envelope | null> {
    const { bodyMaxBytes, envelope, network } = this.options;
    try {
      if (!isJsonType(request.headers['content-type'])) throw new Failure('UNSUPPORTED_MEDIA_TYPE');
      const stopped = this.#door.admit(caller, 'rpc', network);
      if (stopped !== null) throw stopped;
      const body = await readBody(request, response, bodyMaxBytes, this.#budget);
      return body === null ? null : decodeEnvelope(body, envelope);
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      refuse(request, response, thrown);
      return null;
    }
  }

  /** One call makes the journey; what cannot is answered here. */
  async #reply(item: EnvelopeItem, caller: Caller, signal: AbortSignal): Promise<Reply> {
    const pieces: Buffer[] = [];
    if (item.kind === 'notification') return { pieces, ending: null, limits: noLimits };
    if (item.kind === 'fault') {
      const failure = new Failure(item.code);
      pushFailure(pieces, failure, item.id);
      return { pieces, ending: failure, limits: noLimits };
    }
    const { method, params, id, bytes: bytesIn } = item;
    const { credential, client, traceparent } = caller;
    const { network } = this.options;
    const { answer, failure, ...limits } = await this.#door.serve(
      { credential, client, traceparent, product: 'rpc', network, method, params, bytesIn },
      signal,
    );
    if (failure === null) pushAnswer(pieces, answer, id);
    else pushFailure(pieces, failure, id);
    return { pieces, ending: failure, limits };
  }

  #sendSingle(response: ServerResponse, { pieces, ending, limits }: Reply): void {
    if (response.destroyed) return;
    const body = pieces.length === 0 ? pieces : endSingle(pieces);
    send(response, statusOfSingle(ending), answerHeaders(limits, ending?.retryAfter), body);
  }

  #sendBatch(response: ServerResponse, replies: readonly Reply[]): void {
    if (response.destroyed) return;
    const answered = replies.filter(({ pieces }) => pieces.length > 0);
    const failure = sharedFailure(answered.map(({ ending }) => ending));
    const { limits } = replies.findLast((reply) => reply.limits !== noLimits) ?? { limits: noLimits };
    const body = answered.length === 0 ? [] : joinBatch(answered.map(({ pieces }) => pieces));
    send(response, statusOfSingle(failure), answerHeaders(limits, failure?.retryAfter), body);
  }
}
