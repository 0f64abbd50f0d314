import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Failure } from '../../protocol/errors.ts';

/**
 * Answers one HTTP request. What it throws ends the request with a 500 and is logged.
 * @param query - what stands behind the `?` of the URL, undecoded; may hold a key, so it is never logged.
 * @param path - as it was asked, undecoded.
 */
export type HttpHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  query: string,
  path: string,
) => void | Promise<void>;

/**
 * What a server answers: path → verb → handler. Paths are compared whole, verbs in capitals. One that ends in `/*`
 * stands for every path with one part more, which is not empty, unless that has a handler of its own. One that ends in
 * `/**` stands for whatever begins so and has no other handler, for the verbs that it names: of several, the longest.
 */
export type HttpRoutes = ReadonlyMap<string, ReadonlyMap<string, HttpHandler>>;

type Verbs = ReadonlyMap<string, HttpHandler>;

/**
 * Where routes hold what a browser shows of an address that nobody answers: no path, so that none can ask for it.
 * Its handler answers with 404.
 */
export const NOT_FOUND_PAGE = 'no page';

/** Handlers of what people look at: programs that took a wrong path are not told of it. */
export class PageVerbs extends Map<string, HttpHandler> {}

const handlesVerb = (verbs: Verbs, verb: string): boolean =>
  verbs.has(verb) || (verb === 'HEAD' && verbs.has('GET'));

/** The handlers of a path; they may not know the verb, unless they are found by how the path begins. */
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

/** A path without the slash that may end it; of a long one only where it begins. */
function summarizePath(path: string): string {
  const [first, second, ...more] = path.split('/').filter((part) => part !== '');
  const start = [first, second].filter((part) => part !== undefined).join('/');
  return more.length === 0 ? `/${start}` : `/${start}/…`;
}

const apiPaths = (routes: HttpRoutes): string[] =>
  [...routes].flatMap(([path, verbs]) => (verbs instanceof PageVerbs ? [] : [path]));

/** The refusal of a path that nobody answers; it names those that are. */
export const pathNotFound = (routes: HttpRoutes): Failure =>
  new Failure('NOT_FOUND', {
    facts: { paths: [...new Set(apiPaths(routes).map(summarizePath))].join(', ') },
  });

const rootOf = (path: string): string => path.split('/')[1] ?? '';

/**
 * Who shows a person that there is nothing at a path: where it was typed into a browser. Programs, and addresses that
 * begin as one that programs call, get the refusal.
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

/** Joins the routes of several dialects. @throws Error when two of them claim one path. */
export function joinRoutes(...parts: readonly HttpRoutes[]): HttpRoutes {
  const joined = new Map<string, ReadonlyMap<string, HttpHandler>>();
  for (const part of parts) {
    for (const [path, verbs] of part) {
      if (joined.has(path)) throw new Error(`two dialects answer ${path}`);
      joined.set(path, verbs);
    }
  }
  return joined;
}

/** Accepts connections that leave HTTP on its paths, and keeps them. */
export interface HttpUpgrade {
  readonly paths: readonly string[];
  /** The protocol that requests name in their header `Upgrade`, in lower case. */
  readonly protocol: string;
  /**
   * Takes over a connection, or refuses it in HTTP. What it throws ends the connection and is logged.
   * @param head - what the client has sent behind its request.
   * @param query - as for HttpHandler.
   */
  accept(request: IncomingMessage, socket: Socket, head: Buffer, query: string): void;
  /**
   * Asks every connection to end, waits for it at most so long, then cuts what is left.
   * @returns whether nothing had to be cut. When it is there, no connection is.
   */
  drain(graceMs: number): Promise<boolean>;
}
