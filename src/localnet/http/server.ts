import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '../../base/log.ts';
import type { LocalNode } from '../node.ts';
import type { RpcHandler } from '../rpc-handler.ts';
import { rpcHandlers } from '../rpc-handlers.ts';
import { readBody } from './body.ts';
import { ALLOWED_METHODS, decideCors } from './cors.ts';
import { type AnswerOptions, answer } from './handle-request.ts';
import { plainPath } from './rest-paths.ts';
import {
  BODY_TOO_LARGE,
  bodyNotUtf8,
  METHOD_NOT_ALLOWED,
  ORIGIN_REFUSED,
  type PlainAnswer,
  UNSUPPORTED_CONTENT_TYPE,
} from './rest-responses.ts';

export type LocalnetServerOptions = Readonly<{
  /** Address to listen on; loopback by default. */
  host?: string;
  /** Port to listen on; 0 picks a free one. */
  port: number;
  log: Logger;
  /** Largest request body; Agave's `--rpc-max-request-body-size`. */
  bodyMaxBytes?: number;
  /** Most members of a batch; the default exceeds what fits the default body. */
  batchMaxCalls?: number;
  /** Characters of a batch's answer after which its remaining calls are refused. */
  batchAnswerMaxChars?: number;
  /** Most sockets open at once; further ones are closed unread. */
  connectionsMax?: number;
  /** How long a request's head may take to arrive. */
  headersTimeoutMs?: number;
  /** How long a whole request may take to arrive. */
  requestTimeoutMs?: number;
  /** How long a connection may lie idle between requests. */
  keepAliveTimeoutMs?: number;
  /** How long `close` waits for requests under way. */
  drainTimeoutMs?: number;
  /** What answers the methods; all that the embedded ledger has by default. */
  handlers?: Readonly<Record<string, RpcHandler>>;
}>;

export type LocalnetServer = Readonly<{
  port: number;
  /** Takes no new connections, lets requests under way finish, then closes every socket. */
  close(): Promise<void>;
}>;

type Settings = AnswerOptions & Readonly<{ node: LocalNode; bodyMaxBytes: number }>;

const JSON_TYPES = new Set([
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=utf-8',
]);
const JSON_ANSWER = 'application/json; charset=utf-8';
const TEXT_ANSWER = 'text/plain; charset=utf-8';

type Headers = Readonly<Record<string, string>>;

function sendJson(response: ServerResponse, text: string, headers: Headers): void {
  response.writeHead(200, {
    'content-type': JSON_ANSWER,
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

function sendPlain(response: ServerResponse, { status, text }: PlainAnswer, headers: Headers): void {
  response.writeHead(status, {
    'content-type': TEXT_ANSWER,
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

async function answerPost(
  request: IncomingMessage,
  response: ServerResponse,
  headers: Headers,
  settings: Settings,
): Promise<void> {
  const contentType = request.headers['content-type']?.toLowerCase();
  if (contentType === undefined || !JSON_TYPES.has(contentType)) {
    return sendPlain(response, UNSUPPORTED_CONTENT_TYPE, headers);
  }
  const body = await readBody(request, settings.bodyMaxBytes);
  if (body === 'aborted') return;
  if (body === 'too-large') return sendPlain(response, BODY_TOO_LARGE, headers);
  if (!isUtf8(body)) return sendPlain(response, bodyNotUtf8(body), headers);
  sendJson(response, await answer(body, settings), headers);
}

/** Order of the decisions as in jsonrpc-http-server 18 `handler.rs`, Agave's own paths before them. */
async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  settings: Settings,
): Promise<void> {
  const plain = plainPath(request.url ?? '/', settings.node);
  if (plain !== null) {
    response.writeHead(plain.status, { 'content-length': Buffer.byteLength(plain.text) }).end(plain.text);
    return;
  }
  const cors = decideCors(request.headers);
  if (cors === 'refused') return sendPlain(response, ORIGIN_REFUSED, {});
  if (request.method === 'POST') return answerPost(request, response, cors, settings);
  if (request.method === 'OPTIONS') {
    return sendJson(response, '', { allow: ALLOWED_METHODS, accept: 'application/json', ...cors });
  }
  sendPlain(response, METHOD_NOT_ALLOWED, cors);
}

async function close(server: Server, drainTimeoutMs: number): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const deadline = setTimeout(() => server.closeAllConnections(), drainTimeoutMs);
  await closed;
  clearTimeout(deadline);
}

/**
 * Serves the JSON-RPC of an embedded ledger over HTTP exactly as Agave does. Source: reference §2.3.
 * @throws when the port cannot be had.
 */
export async function startLocalnetServer(
  node: LocalNode,
  options: LocalnetServerOptions,
): Promise<LocalnetServer> {
  const handlers: Readonly<Record<string, RpcHandler>> = options.handlers ?? rpcHandlers;
  const settings: Settings = {
    node,
    log: options.log,
    bodyMaxBytes: options.bodyMaxBytes ?? 51_200,
    batchMaxCalls: options.batchMaxCalls ?? 2_000,
    batchAnswerMaxChars: options.batchAnswerMaxChars ?? 128 * 1024 * 1024,
    methods: new Map(
      Object.entries(handlers).map(([name, handler]) => [name, (params) => handler(node, params)]),
    ),
  };
  const server = createServer({
    headersTimeout: options.headersTimeoutMs ?? 10_000,
    requestTimeout: options.requestTimeoutMs ?? 30_000,
    keepAliveTimeout: options.keepAliveTimeoutMs ?? 60_000,
    connectionsCheckingInterval: 1_000,
  });
  server.maxConnections = options.connectionsMax ?? 1_024;
  server.on('request', (request, response) => {
    // A connection that falls idle after `close` was called is no use any more.
    response.once('close', () => {
      if (!server.listening) setImmediate(() => server.closeIdleConnections());
    });
    respond(request, response, settings).catch((cause: unknown) => {
      settings.log.error({ err: cause }, 'a request failed');
      request.destroy();
    });
  });
  server.listen(options.port, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, close: () => close(server, options.drainTimeoutMs ?? 5_000) };
}
