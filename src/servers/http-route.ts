import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Answers one HTTP request. What it throws ends the request with a 500 and is logged.
 * @param query - what stands behind the `?` of the URL, undecoded; may hold a key, so it is never logged.
 */
export type HttpHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  query: string,
) => void | Promise<void>;

/** What a server answers: path → verb → handler. Paths are compared whole, verbs in capitals. */
export type HttpRoutes = ReadonlyMap<string, ReadonlyMap<string, HttpHandler>>;

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
