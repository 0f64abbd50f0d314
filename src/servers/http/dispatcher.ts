import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../../base/log.ts';
import { Failure } from '../../protocol/errors.ts';
import { type Refusals, refusalOf, refuse } from './refuse.ts';
import { findNotFoundPage, findVerbs, type HttpHandler, type HttpRoutes, pathNotFound } from './routes.ts';

/** Routes requests to handlers by path and verb. */
export class HttpDispatcher {
  readonly #routes: HttpRoutes;
  readonly #refusals: Refusals;
  readonly #log: Logger;

  constructor(routes: HttpRoutes, refusals: Refusals, log: Logger) {
    this.#routes = routes;
    this.#refusals = refusals;
    this.#log = log;
  }

  dispatch(request: IncomingMessage, response: ServerResponse, query: string, path: string): void {
    const verbs = findVerbs(this.#routes, path, request.method ?? '');
    if (verbs === undefined) {
      const notFoundPage = findNotFoundPage(this.#routes, request, path);
      if (notFoundPage !== undefined) this.#invoke(notFoundPage, request, response, query, path);
      else refuse(request, response, pathNotFound(this.#routes), {}, refusalOf(this.#refusals, path));
      return;
    }
    const handler =
      verbs.get(request.method ?? '') ?? (request.method === 'HEAD' ? verbs.get('GET') : undefined);
    if (handler === undefined) {
      const allow = [...verbs.keys()].join(', ');
      const failure = new Failure('METHOD_NOT_ALLOWED');
      refuse(request, response, failure, { allow }, refusalOf(this.#refusals, path));
      return;
    }
    this.#invoke(handler, request, response, query, path);
  }

  #invoke(
    handler: HttpHandler,
    request: IncomingMessage,
    response: ServerResponse,
    query: string,
    path: string,
  ): void {
    const fail = (thrown: unknown): void => {
      this.#log.error({ err: thrown }, 'HTTP handler failed unexpectedly');
      if (response.headersSent) response.destroy();
      else refuse(request, response, new Failure('INTERNAL'), {}, refusalOf(this.#refusals, path));
    };
    try {
      handler(request, response, query, path)?.catch(fail);
    } catch (thrown) {
      fail(thrown);
    }
  }
}
