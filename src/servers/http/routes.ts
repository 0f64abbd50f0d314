import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../../base/log.ts';
import { Failure } from '../../protocol/errors.ts';
import { type RejectionBodies, rejectionBodyOf, rejectRequest } from './encode.ts';

/** The query (without `?`) and the path are not decoded. The query may hold a key, so it must not be logged. */
export type HttpHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  query: string,
  path: string,
) => void | Promise<void>;

/**
 * Handlers by path and upper-case verb. A path ending in `/*` matches one more non-empty segment. A path ending in
 * `/**` matches every path with that prefix, but only for its own verbs. Exact paths take precedence, then `/*`, then
 * the longest prefix.
 */
export type HttpRoutes = ReadonlyMap<string, ReadonlyMap<string, HttpHandler>>;

type Verbs = ReadonlyMap<string, HttpHandler>;

/** Route key of the page that browsers get for unknown paths; its handler responds with 404. */
export const NOT_FOUND_PAGE = 'no page';

export class PageVerbs extends Map<string, HttpHandler> {}

const handlesVerb = (verbs: Verbs, verb: string): boolean =>
  verbs.has(verb) || (verb === 'HEAD' && verbs.has('GET'));

/** Finds the handlers of a path. Only a match by prefix guarantees a handler for the verb. */
export function findVerbs(routes: HttpRoutes, path: string, verb: string): Verbs | undefined {
  const verbs = routes.get(path);
  if (verbs !== undefined) return verbs;
  const wildcard = path.endsWith('/')
    ? undefined
    : routes.get(`${path.slice(0, path.lastIndexOf('/') + 1)}*`);
  return wildcard ?? findByPrefix(routes, path, verb);
}

function findByPrefix(routes: HttpRoutes, path: string, verb: string): Verbs | undefined {
  let found: Verbs | undefined;
  let longest = -1;
  for (const [pattern, verbs] of routes) {
    if (!pattern.endsWith('/**') || pattern.length <= longest || !handlesVerb(verbs, verb)) continue;
    if (!path.startsWith(pattern.slice(0, -2))) continue;
    found = verbs;
    longest = pattern.length;
  }
  return found;
}

function summarizePath(path: string): string {
  const [first, second, ...more] = path.split('/').filter((part) => part !== '');
  const start = [first, second].filter((part) => part !== undefined).join('/');
  return more.length === 0 ? `/${start}` : `/${start}/…`;
}

const apiPaths = (routes: HttpRoutes): string[] =>
  [...routes].flatMap(([path, verbs]) => (verbs instanceof PageVerbs ? [] : [path]));

const knownPaths = (routes: HttpRoutes) => ({
  paths: [...new Set(apiPaths(routes).map(summarizePath))].join(', '),
});

export const pathNotFound = (routes: HttpRoutes): Failure =>
  new Failure('NOT_FOUND', { facts: knownPaths(routes) });

const rootOf = (path: string): string => path.split('/')[1] ?? '';

/**
 * Finds the page for browsers. Other clients get the JSON failure, as do requests for a path that shares its first
 * segment with an API path.
 */
export function findNotFoundPage(
  routes: HttpRoutes,
  request: IncomingMessage,
  path: string,
): HttpHandler | undefined {
  if (request.method !== 'GET' || request.headers.accept?.includes('text/html') !== true) return undefined;
  const isApiPath = apiPaths(routes).some((apiPath) => rootOf(apiPath) === rootOf(path));
  return isApiPath ? undefined : routes.get(NOT_FOUND_PAGE)?.get('GET');
}

export const preflightHandler =
  (headers: OutgoingHttpHeaders): HttpHandler =>
  (_request, response) => {
    response.writeHead(204, headers);
    response.end();
  };

export function joinRoutes(...parts: readonly HttpRoutes[]): HttpRoutes {
  const joined = new Map<string, ReadonlyMap<string, HttpHandler>>();
  for (const part of parts) {
    for (const [path, verbs] of part) {
      if (joined.has(path)) throw new Error(`Duplicate route: ${path}`);
      joined.set(path, verbs);
    }
  }
  return joined;
}

export interface HttpUpgrade {
  readonly paths: readonly string[];
  readonly protocol: string;
  /** Takes over a connection or rejects it over HTTP. @param head - bytes received after the request. */
  accept(request: IncomingMessage, socket: Socket, head: Buffer, query: string): void;
  /** Closes the connections that are still open after `graceMs`. @returns true if there were none. */
  drain(graceMs: number): Promise<boolean>;
}

export class HttpDispatcher {
  readonly #routes: HttpRoutes;
  readonly #rejectionBodies: RejectionBodies;
  readonly #log: Logger;

  constructor(routes: HttpRoutes, rejectionBodies: RejectionBodies, log: Logger) {
    this.#routes = routes;
    this.#rejectionBodies = rejectionBodies;
    this.#log = log;
  }

  dispatch(response: ServerResponse, query: string, path: string): void {
    const { req: request } = response;
    const { method = '' } = request;
    const verbs = findVerbs(this.#routes, path, method);
    const handler =
      verbs === undefined
        ? findNotFoundPage(this.#routes, request, path)
        : (verbs.get(method) ?? (method === 'HEAD' ? verbs.get('GET') : undefined));
    if (handler !== undefined) {
      this.#invoke(handler, response, query, path);
      return;
    }
    const bodyOf = rejectionBodyOf(this.#rejectionBodies, path);
    if (verbs === undefined) rejectRequest(response, pathNotFound(this.#routes), {}, bodyOf);
    else {
      const allow = [...verbs.keys()].join(', ');
      // A POST to a page is probably an API call with a wrong path.
      const options = verbs instanceof PageVerbs ? { facts: knownPaths(this.#routes) } : {};
      rejectRequest(response, new Failure('METHOD_NOT_ALLOWED', options), { allow }, bodyOf);
    }
  }

  #invoke(handler: HttpHandler, response: ServerResponse, query: string, path: string): void {
    const fail = (thrown: unknown): void => {
      this.#log.error({ err: thrown }, 'HTTP handler failed unexpectedly');
      const bodyOf = rejectionBodyOf(this.#rejectionBodies, path);
      if (response.headersSent) response.destroy();
      else rejectRequest(response, new Failure('INTERNAL'), {}, bodyOf);
    };
    try {
      handler(response.req, response, query, path)?.catch(fail);
    } catch (thrown) {
      fail(thrown);
    }
  }
}

/** Requests on one port, counted by both node:http and the fast path. */
export type ListenerLoad = { inFlight: number; isDraining: boolean };

/** The node:http listener as the fast path sees it. */
export interface FallbackListener {
  /** Called when a request ends while the listener is draining. */
  onRequestEnd(): void;
  /** @param isPipelined - whether `bytes`, the start of the next request, arrived before the last response was sent. */
  adopt(socket: Socket, bytes: Buffer, isPipelined: boolean): void;
}

/** Receives plaintext connections first and passes unsupported connections to its fallback. */
export interface Listener {
  setFallback(fallback: FallbackListener, load: ListenerLoad): void;
  /** Accepts a connection that has not been read from. */
  accept(socket: Socket): void;
  closeIdle(): void;
  closeAll(): void;
}
