import type { ServerResponse } from 'node:http';
import { Failure } from '../../protocol/errors.ts';
import { decodeEnvelope, type Envelope, type EnvelopeItem } from '../../protocol/request-envelope.ts';
import type { Caller } from '../../protocol/request-handler.ts';
import { NULL_ID } from '../../protocol/response-envelope.ts';
import { callerOf } from '../caller.ts';
import { disconnectSignal } from '../http/connection.ts';
import { readBody } from '../http/decode.ts';
import { preflightHeaders, rejectRequest } from '../http/encode.ts';
import { type HttpHandler, type HttpRoutes, preflightHandler } from '../http/routes.ts';
import { rateLimitHeaders } from '../rate-limit-headers.ts';
import { type EnvelopeCall, type Reply, type RpcCalls, statusOfSingle } from './calls.ts';
import { responseHeaders, send } from './encode.ts';
import { singleCallResponder } from './responder.ts';

const HEADERS = 'content-type, authorization, solana-client, x-solway-session';

export function rpcRoutes(calls: RpcCalls): HttpRoutes {
  const post: HttpHandler = (_request, response, query) => handle(calls, response, query);
  const verbs = new Map([
    ['POST', post],
    ['OPTIONS', preflightHandler(preflightHeaders('POST, OPTIONS', HEADERS))],
  ]);
  return new Map([[calls.options.path, verbs]]);
}

async function handle(calls: RpcCalls, response: ServerResponse, query: string): Promise<void> {
  const { req: request } = response;
  const caller = callerOf(request, request.socket, query, calls.options.proxies);
  const envelope = await receive(calls, response, caller);
  if (envelope === null) return;
  const item = envelope.items[0] as EnvelopeItem;
  if (envelope.batch) await handleBatch(calls, envelope, caller, response);
  else if (item.kind === 'call') handleCall(calls, item, caller, response);
  else write(calls, response, calls.replyToSingle(item, caller));
}

async function handleBatch(
  calls: RpcCalls,
  envelope: Envelope,
  caller: Caller,
  response: ServerResponse,
): Promise<void> {
  const reply = await calls.handleBatch(envelope, caller, disconnectSignal(response.req.socket));
  reply.reservation.releaseAfter(response);
  if (!response.destroyed) write(calls, response, reply);
}

function write(calls: RpcCalls, response: ServerResponse, { pieces, ending, limits }: Reply): void {
  const headers = responseHeaders(limits, ending?.retryAfter);
  send(response, statusOfSingle(ending), headers, pieces, calls);
}

function handleCall(calls: RpcCalls, call: EnvelopeCall, caller: Caller, response: ServerResponse): void {
  const pending = calls.dispatch(call, caller, singleCallResponder(calls, response, call.id));
  response.once('close', () => {
    if (!response.writableEnded) pending.cancel();
  });
}

async function receive(calls: RpcCalls, response: ServerResponse, caller: Caller): Promise<Envelope | null> {
  const { req: request } = response;
  const admitted = calls.admit(request.headers['content-type'], caller);
  if (admitted instanceof Failure) {
    rejectRequest(response, admitted);
    return null;
  }
  let bytes = 0;
  try {
    const body = await readBody(response, calls.options.bodyMaxBytes, calls.bodyBudget);
    if (body === null) return null;
    bytes = body.length;
    return decodeEnvelope(body, calls.options.envelope);
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    const outcome = calls.recordInvalidRequest(thrown, bytes, NULL_ID, caller);
    rejectRequest(response, outcome.failure ?? thrown, rateLimitHeaders('rpc', outcome));
    return null;
  }
}
