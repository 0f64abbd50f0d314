import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Failure } from '../../protocol/errors.ts';

/**
 * Handler of one HTTP request. An exception is logged and becomes a 500.
 * @param query - undecoded, without `?`; may hold a key, so it is never logged.
 * @param path - undecoded.
 */
export type HttpHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  query: string,
  path: string,
) => void | Promise<void>;

/**
 * Routes of a server: path → verb → handler. Verbs are upper case. A path ending in `/*` matches one more non-empty
 * segment; one ending in `/**` matches every path with that prefix, for its verbs only. Exact paths win, then `/*`, then
 * the longest prefix.
 */
export type HttpRoutes = ReadonlyMap<string, ReadonlyMap<string, HttpHandler>>;

type Verbs = ReadonlyMap<string, HttpHandler>;

/** Key for the page that browsers get for unknown paths; not a path itself. Its handler answers with 404. */
export const NOT_FOUND_PAGE = 'no page';

/** Handlers of dashboard pages, which NOT_FOUND failures do not list. */
export class PageVerbs extends Map<string, HttpHandler> {}

const handlesVerb = (verbs: Verbs, verb: string): boolean =>
  verbs.has(verb) || (verb === 'HEAD' && verbs.has('GET'));

/** The handlers of a path. Unless found by prefix, they may lack the verb. */
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

/** The first two segments of a path. */
function summarizePath(path: string): string {
  const [first, second, ...more] = path.split('/').filter((part) => part !== '');
  const start = [first, second].filter((part) => part !== undefined).join('/');
  return more.length === 0 ? `/${start}` : `/${start}/…`;
}

const apiPaths = (routes: HttpRoutes): string[] =>
  [...routes].flatMap(([path, verbs]) => (verbs instanceof PageVerbs ? [] : [path]));

/** NOT_FOUND with the list of API paths. */
export const pathNotFound = (routes: HttpRoutes): Failure =>
  new Failure('NOT_FOUND', {
    facts: { paths: [...new Set(apiPaths(routes).map(summarizePath))].join(', ') },
  });

const rootOf = (path: string): string => path.split('/')[1] ?? '';

/**
 * The 404 page for a path typed into a browser; undefined for programs and for paths that share their first segment with
 * an API, which get the JSON failure.
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

/** Joins the routes of several APIs. @throws Error when two define the same path. */
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

/** Handler of protocol upgrades. */
export interface HttpUpgrade {
  readonly paths: readonly string[];
  /** Value of the Upgrade header, in lower case. */
  /**
   * Takes over a connection, or refuses it in HTTP. An exception is logged and closes the connection.
   * @param head - bytes already received behind the request.
   * @param query - as for HttpHandler.
   */
  accept(request: IncomingMessage, socket: Socket, head: Buffer, query: string): void;
  /** Ends all connections gracefully within `graceMs`, then closes the rest. @returns whether none had to be closed. */
  drain(graceMs: number): Promise<boolean>;
}
