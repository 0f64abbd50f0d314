import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '../../../../src/base/log.ts';
import type { LocalNode } from '../node.ts';
import type { RpcHandler } from '../rpc-handler.ts';
import { rpcHandlers } from '../rpc-handlers.ts';
import { handleRequestBody, type RequestOptions } from './handle-request.ts';
import {
  ALLOWED_METHODS,
  BODY_TOO_LARGE,
  bodyNotUtf8,
  decideCors,
  METHOD_NOT_ALLOWED,
  ORIGIN_NOT_ALLOWED,
  type PlainResponse,
  plainPath,
  UNSUPPORTED_CONTENT_TYPE,
} from './rest-paths.ts';

/** 'too-large' beyond the limit, 'aborted' when the client disconnects. */
export async function readBody(
  request: IncomingMessage,
  bodyMaxBytes: number,
): Promise<Buffer | 'too-large' | 'aborted'> {
  if (Number(request.headers['content-length'] ?? 0) > bodyMaxBytes) return 'too-large';
  const { promise, resolve } = Promise.withResolvers<Buffer | 'too-large' | 'aborted'>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= bodyMaxBytes) chunks.push(chunk);
    else {
      chunks.length = 0;
      resolve('too-large');
    }
  });
  request.on('end', () => resolve(Buffer.concat(chunks)));
  request.on('error', () => resolve('aborted'));
  request.on('close', () => resolve('aborted'));
  return promise;
}

type LocalnetServerOptions = Readonly<{
  /** Listening address. Default: loopback. */
  host?: string;
  /** 0 picks a free port. */
  port: number;
  log: Logger;
  /** Agave's `--rpc-max-request-body-size`. */
  bodyMaxBytes?: number;
  /** Maximum calls per batch. The default is more than the default body size can hold. */
  batchMaxCalls?: number;
  /** Response size from which the remaining calls are rejected. */
  batchAnswerMaxChars?: number;
  /** Maximum connections; further ones are closed at once. */
  connectionsMax?: number;
  headersTimeoutMs?: number;
  requestTimeoutMs?: number;
  keepAliveTimeoutMs?: number;
  /** Milliseconds that `close` waits for running requests. */
  drainTimeoutMs?: number;
  /** Default: all methods of the embedded ledger. */
  handlers?: Readonly<Record<string, RpcHandler>>;
}>;

export type LocalnetServer = Readonly<{
  port: number;
  /** Waits for running requests, then closes all connections. */
  close(): Promise<void>;
}>;

type Settings = RequestOptions & Readonly<{ node: LocalNode; bodyMaxBytes: number }>;

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

function sendPlain(response: ServerResponse, { status, text }: PlainResponse, headers: Headers): void {
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
  sendJson(response, await handleRequestBody(body, settings), headers);
}

/** Checks in the order of jsonrpc-http-server 18 `handler.rs`, after Agave's own paths. */
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
  if (cors === 'rejected') return sendPlain(response, ORIGIN_NOT_ALLOWED, {});
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
 * JSON-RPC server of an embedded ledger, equivalent to Agave. Source: reference §2.3.
 * @throws Error if the port is not available.
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
    // Idle connections close after `close`.
    response.once('close', () => {
      if (!server.listening) setImmediate(() => server.closeIdleConnections());
    });
    respond(request, response, settings).catch((cause: unknown) => {
      settings.log.error({ err: cause }, 'HTTP request failed');
      request.destroy();
    });
  });
  server.listen(options.port, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, close: () => close(server, options.drainTimeoutMs ?? 5_000) };
}
