import type { ServerResponse } from 'node:http';
import { ByteBudget } from '../../base/cache/byte-budget.ts';
import { Failure } from '../../protocol/errors.ts';
import { groupOfPath, type RestHandler, type RestInput, type RestRoute } from '../../protocol/rest/route.ts';
import { traceparentOf } from '../caller.ts';
import { noProxies } from '../client-address.ts';
import { noCompression } from '../compression.ts';
import { disconnectSignal } from '../http/connection.ts';
import { isJsonType, readBody } from '../http/decode.ts';
import { preflightHeaders, rejectRequest } from '../http/encode.ts';
import { type HttpHandler, type HttpRoutes, preflightHandler } from '../http/routes.ts';
import { hasBody, readJsonBody, readQuery, restCredentialOf } from './decode.ts';
import { envelope, errorBody, responseHeaders, send } from './encode.ts';
import { readUpload, type UploadLimits, uploadLimits } from './multipart.ts';

export const restServerOptions = {
  bodyMaxBytes: 1024 * 1024,
  bodiesMaxBytes: 64 * 1024 * 1024,
  upload: uploadLimits as UploadLimits,
  compression: noCompression,
  proxies: noProxies,
};

type RestServerOptions = Readonly<typeof restServerOptions>;

/** Path prefix of the REST API; failures under this prefix use the REST envelope. */
export const REST_PREFIX = '/sol/';

export function restRoutes(
  restHandler: RestHandler,
  routes: readonly RestRoute[],
  options: Partial<RestServerOptions> = {},
): HttpRoutes {
  const handle = exchangeHandler(restHandler, { ...restServerOptions, ...options });
  const paths = new Map<string, Map<string, HttpHandler>>();
  for (const route of routes) {
    for (const path of route.paths) {
      const groupedRoute = { ...route, group: groupOfPath(path) ?? route.group };
      const handler: HttpHandler = (_request, response, query) =>
        handle({ route: groupedRoute, response, query, bodyBytes: 0 });
      const verbs = paths.get(path) ?? new Map([['OPTIONS', preflight]]);
      if (verbs.has(route.verb)) throw new Error(`Duplicate route: ${route.verb} ${path}`);
      verbs.set(route.verb, handler);
      paths.set(path, verbs).set(`${path}/`, verbs);
    }
  }
  return paths;
}

/** API clients send `access-control-allow-origin` as a request header. Source: rest-api.md §1. */
const HEADERS = 'access-control-allow-origin, authorization, content-type, x-api-key';
const preflight = preflightHandler(preflightHeaders('GET, POST, OPTIONS', HEADERS));

type RestExchange = {
  readonly route: RestRoute;
  readonly response: ServerResponse;
  readonly query: string;
  bodyBytes: number;
};

/** Call after the reader has attached its listeners, because a `data` listener starts the flow of the body. */
function countBody(exchange: RestExchange): void {
  exchange.response.req.on('data', (piece: Buffer) => {
    exchange.bodyBytes += piece.length;
  });
}

function exchangeHandler(restHandler: RestHandler, options: RestServerOptions) {
  const budget = new ByteBudget(() => options.bodiesMaxBytes);

  async function read(exchange: RestExchange): Promise<RestInput> {
    const { route, response } = exchange;
    const { req: request } = response;
    const query = readQuery(exchange.query);
    if (route.bodyType === 'upload') {
      const file = readUpload(request, response, options.upload);
      countBody(exchange);
      return { query, body: undefined, file: await file };
    }
    if (!hasBody(request)) return { query, body: undefined, file: null };
    if (!isJsonType(request.headers['content-type'])) throw new Failure('UNSUPPORTED_MEDIA_TYPE');
    const reading = readBody(response, options.bodyMaxBytes, budget);
    countBody(exchange);
    const body = await reading;
    if (body === null) throw new Failure('CLIENT_GONE');
    return { query, body: readJsonBody(body), file: null };
  }

  return async (exchange: RestExchange): Promise<void> => {
    const { route, response, query } = exchange;
    const { req: request } = response;
    const outcome = await restHandler.serve(
      {
        credential: restCredentialOf(request, query),
        client: options.proxies.clientOf(request.socket, request.headers),
        traceparent: traceparentOf(request.headers),
        route,
        execute: async (caller) => envelope(await route.handle(await read(exchange), caller)),
        bytesIn: () => exchange.bodyBytes,
      },
      disconnectSignal(request.socket),
    );
    if (response.destroyed) return;
    if (outcome.failure === null || request.complete) send(response, outcome, route, options);
    else rejectRequest(response, outcome.failure, responseHeaders(outcome, route), errorBody);
  };
}
