import type { IncomingMessage, ServerResponse } from 'node:http';
import { ByteBudget } from '../../base/cache/byte-budget.ts';
import { Failure } from '../../protocol/errors.ts';
import {
  groupOfPath,
  type RestCaller,
  type RestHandler,
  type RestInput,
  type RestRoute,
} from '../../protocol/rest/route.ts';
import { traceparentOf } from '../caller.ts';
import { noProxies } from '../client-address.ts';
import { disconnectSignal } from '../http/connection.ts';
import { isJsonType, readBody } from '../http/decode.ts';
import { rejectRequest } from '../http/encode.ts';
import { type HttpHandler, type HttpRoutes, preflightHandler } from '../http/routes.ts';
import { hasBody, readJsonBody, readQuery, restCredentialOf } from './decode.ts';
import { envelope, errorBody, preflightHeaders, responseHeaders, send } from './encode.ts';
import { readUpload, type UploadLimits, uploadLimits } from './multipart.ts';

export const restServerOptions = {
  bodyMaxBytes: 1024 * 1024,
  bodiesMaxBytes: 64 * 1024 * 1024,
  upload: uploadLimits as UploadLimits,
  proxies: noProxies,
};

type RestServerOptions = Readonly<typeof restServerOptions>;

/** Path prefix of the interface; failures under it use its envelope. */
export const REST_PREFIX = '/sol/';

export function restRoutes(
  restHandler: RestHandler,
  routes: readonly RestRoute[],
  options: Partial<RestServerOptions> = {},
): HttpRoutes {
  const dialect = new RestDialect(restHandler, { ...restServerOptions, ...options });
  const paths = new Map<string, Map<string, HttpHandler>>();
  for (const route of routes) {
    for (const path of route.paths) {
      const groupedRoute = { ...route, group: groupOfPath(path) ?? route.group };
      const handler: HttpHandler = (request, response, query) =>
        dialect.handle(groupedRoute, request, response, query);
      const verbs = paths.get(path) ?? new Map([['OPTIONS', preflight]]);
      if (verbs.has(route.verb)) throw new Error(`Duplicate route: ${route.verb} ${path}`);
      verbs.set(route.verb, handler);
      paths.set(path, verbs).set(`${path}/`, verbs);
    }
  }
  return paths;
}

const preflight = preflightHandler(preflightHeaders);

type BodyCount = { bytes: number };

/** Call after the reader has attached: a `data` listener starts the flow of the body. */
function countBody(request: IncomingMessage, count: BodyCount): void {
  request.on('data', (piece: Buffer) => {
    count.bytes += piece.length;
  });
}

class RestDialect {
  readonly #handler: RestHandler;
  readonly #options: RestServerOptions;
  readonly #budget: ByteBudget;

  constructor(handler: RestHandler, options: RestServerOptions) {
    this.#handler = handler;
    this.#options = options;
    this.#budget = new ByteBudget(() => options.bodiesMaxBytes);
  }

  async handle(
    route: RestRoute,
    request: IncomingMessage,
    response: ServerResponse,
    query: string,
  ): Promise<void> {
    const count: BodyCount = { bytes: 0 };
    const work = (caller: RestCaller) => this.#work(route, request, response, query, count, caller);
    const credential = restCredentialOf(request, query);
    const client = this.#options.proxies.clientOf(request.socket, request.headers);
    const traceparent = traceparentOf(request.headers);
    const outcome = await this.#handler.serve(
      { credential, client, traceparent, route, execute: work, bytesIn: () => count.bytes },
      disconnectSignal(request.socket),
    );
    if (response.destroyed) return;
    if (outcome.failure === null || request.complete) send(response, outcome, route);
    else rejectRequest(request, response, outcome.failure, responseHeaders(outcome, route), errorBody);
  }

  async #work(
    route: RestRoute,
    request: IncomingMessage,
    response: ServerResponse,
    query: string,
    count: BodyCount,
    caller: RestCaller,
  ): Promise<Buffer> {
    const input = await this.#read(route, request, response, query, count);
    return envelope(await route.handle(input, caller));
  }

  async #read(
    { bodyType }: RestRoute,
    request: IncomingMessage,
    response: ServerResponse,
    query: string,
    count: BodyCount,
  ): Promise<RestInput> {
    const parameters = readQuery(query);
    if (bodyType === 'upload') {
      const file = readUpload(request, response, this.#options.upload);
      countBody(request, count);
      return { query: parameters, body: undefined, file: await file };
    }
    if (!hasBody(request)) return { query: parameters, body: undefined, file: null };
    if (!isJsonType(request.headers['content-type'])) throw new Failure('UNSUPPORTED_MEDIA_TYPE');
    const reading = readBody(request, response, this.#options.bodyMaxBytes, this.#budget);
    countBody(request, count);
    const body = await reading;
    if (body === null) throw new Failure('CLIENT_GONE');
    return { query: parameters, body: readJsonBody(body), file: null };
  }
}
