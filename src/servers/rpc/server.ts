import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Envelope, EnvelopeItem } from '../../protocol/envelope.ts';
import { NULL_ID } from '../../protocol/envelope-answer.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Caller } from '../../protocol/serve.ts';
import { credentialOf } from '../credential.ts';
import { refuse } from '../http-refuse.ts';
import type { HttpHandler, HttpRoutes } from '../http-route.ts';
import { leavingSignal } from '../leaving.ts';
import { networkIn } from '../network-parameter.ts';
import { readBody } from '../request-body.ts';
import { SESSION_HEADER, sessionOf } from '../session-header.ts';
import { traceparentOf } from '../traceparent.ts';
import type { EnvelopeCall, Reply, RpcCalls } from './calls.ts';
import { answerHeaders, limitHeaders, preflightHeaders, send } from './encode.ts';
import { statusOfSingle } from './errors.ts';
import { OneReply } from './one-reply.ts';

/** JSON-RPC over HTTP: POST for calls, OPTIONS for browsers. */
export function rpcRoutes(calls: RpcCalls): HttpRoutes {
  const post: HttpHandler = (request, response, query) => answer(calls, request, response, query);
  const preflight: HttpHandler = (_request, response) => {
    response.writeHead(204, preflightHeaders);
    response.end();
  };
  const verbs = new Map([
    ['POST', post],
    ['OPTIONS', preflight],
  ]);
  return new Map([[calls.options.path, verbs]]);
}

/** From the bytes of a request to the bytes of its answer. */
async function answer(
  calls: RpcCalls,
  request: IncomingMessage,
  response: ServerResponse,
  query: string,
): Promise<void> {
  const client = calls.options.proxies.clientOf(request.socket, request.headers);
  const traceparent = traceparentOf(request.headers);
  const session = sessionOf(request.headers[SESSION_HEADER]);
  const network = networkIn(query);
  const caller: Caller = { credential: credentialOf(request, query), client, traceparent, session, network };
  const envelope = await receive(calls, request, response, caller);
  if (envelope === null) return;
  const item = envelope.items[0] as EnvelopeItem;
  if (envelope.batch) await answerBatch(calls, envelope, caller, response);
  else if (item.kind === 'call') answerOne(calls, item, caller, response);
  else write(response, calls.replyAlone(item, caller));
}

async function answerBatch(
  calls: RpcCalls,
  envelope: Envelope,
  caller: Caller,
  response: ServerResponse,
): Promise<void> {
  const reply = await calls.answerBatch(envelope, caller, leavingSignal(response.req.socket));
  reply.room.giveBackAfter(response);
  if (!response.destroyed) write(response, reply);
}

function write(response: ServerResponse, { pieces, ending, limits }: Reply): void {
  send(response, statusOfSingle(ending), answerHeaders(limits, ending?.retryAfter), pieces);
}

function answerOne(calls: RpcCalls, call: EnvelopeCall, caller: Caller, response: ServerResponse): void {
  const asked = calls.put(call, caller, new OneReply(calls, response, call.id));
  response.once('close', () => {
    if (!response.writableEnded) asked.leave();
  });
}

/** The decoded body; null when the request was refused already or its sender is gone. */
async function receive(
  calls: RpcCalls,
  request: IncomingMessage,
  response: ServerResponse,
  caller: Caller,
): Promise<Envelope | null> {
  const refusal = calls.refusalOf(request.headers['content-type'], caller);
  if (refusal !== null) {
    refuse(request, response, refusal);
    return null;
  }
  let bytes = 0;
  try {
    const body = await readBody(request, response, calls.options.bodyMaxBytes, calls.budget);
    if (body === null) return null;
    bytes = body.length;
    return calls.decode(body);
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    const outcome = calls.countNonCall(thrown, bytes, NULL_ID, caller);
    refuse(request, response, outcome.failure ?? thrown, limitHeaders(outcome));
    return null;
  }
}
