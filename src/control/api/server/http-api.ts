import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { Hono } from 'hono';
import { checkSignInAnswer, type SignInDoor, type SignInRequest } from '../../accounts/sign-in-door.ts';
import { AUTH_PREFIX } from '../../accounts/sign-in-library.ts';
import { ApiError } from '../api-error.ts';
import { type ContractName, contract, routeOf } from '../contract/contract.ts';
import type { ApiCaller } from '../handler.ts';
import { apiHeaders, jsonAnswer, streamAnswer } from './answer.ts';
import type { ApiRequest, ControlApi } from './control-api.ts';
import { openApiDocument } from './open-api.ts';
import { type ControlApiOptions, controlApiOptions } from './options.ts';
import { problemOf } from './problem.ts';
import { readBytes, readJson, readQuery } from './read-request.ts';

/** What stands before every path of the contract. */
export const API_PREFIX = '/api/v1';

/** What is known of a request beside what it says itself. */
export type ApiClientFacts = Readonly<{
  /** Of the client, not of proxies that are trusted. */
  address: string;
}>;

export type HttpApiParts = Readonly<{
  api: ControlApi;
  /** Who sent a request. @throws ApiError 401, 403 for credentials that are wrong or come from elsewhere. */
  identify(request: Request, client: ApiClientFacts): Promise<ApiCaller>;
  /** What stands beside the contract: signing in. */
  signIn: Pick<SignInDoor, 'answer'>;
  options?: Partial<ControlApiOptions>;
}>;

type Env = { Bindings: ApiClientFacts; Variables: { requestId: string } };

/** The control API over HTTP, as a function from request to response. */
export class HttpApi {
  readonly #api: ControlApi;
  readonly #parts: HttpApiParts;
  readonly #options: ControlApiOptions;
  readonly #app = new Hono<Env>();
  readonly #ending = new AbortController();
  #requests = 0;
  #streams = 0;

  constructor(parts: HttpApiParts) {
    this.#parts = parts;
    this.#api = parts.api;
    this.#options = { ...controlApiOptions, ...parts.options };
    this.#app.use(async (context, next) => {
      context.set('requestId', randomUUID());
      await next();
    });
    this.#app.onError((thrown, context) => this.#refuse(thrown, context));
    this.#app.notFound((context) => this.#refuse(noSuchRoute(), context));
    this.#addRoutes();
    this.#app.on(['GET', 'POST'], `${AUTH_PREFIX}/*`, (context) => this.#signIn(context));
  }

  /** Answers a request; never rejects. */
  async fetch(request: Request, client: ApiClientFacts): Promise<Response> {
    if (!PLAIN_PATH.test(new URL(request.url).pathname)) return problemAnswer(noSuchRoute());
    if (this.#requests >= this.#options.requestsMax) return problemAnswer(overloaded());
    this.#requests++;
    try {
      return await this.#app.fetch(request, client);
    } finally {
      this.#requests--;
    }
  }

  /** Ends answers that would go on: when the service stops. */
  endStreams(): void {
    this.#ending.abort();
  }

  #addRoutes(): void {
    const names = Object.keys(contract) as ContractName[];
    const paths = new Map<string, string[]>();
    for (const name of names) {
      const [verb = '', path = ''] = name.split(' ');
      const pattern = `${API_PREFIX}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
      paths.set(pattern, [...(paths.get(pattern) ?? []), verb]);
      this.#app.on(verb, pattern, (context) => this.#answer(name, context));
    }
    const document = openApiDocument();
    this.#app.get(`${API_PREFIX}/openapi.json`, () => jsonAnswer(200, document, {}));
    for (const [pattern, verbs] of paths)
      this.#app.all(pattern, (context) => this.#refuse(wrongVerb(verbs), context));
  }

  async #answer(name: ContractName, context: Context<Env>): Promise<Response> {
    const { raw } = context.req;
    const requestId = context.get('requestId');
    const caller = await this.#parts.identify(raw, context.env);
    const rawBody = await readBytes(raw, this.#options.bodyMaxBytes);
    const body = routeOf(name).body === undefined ? undefined : readJson(raw, rawBody);
    const question = { path: context.req.param() as Record<string, string>, query: readQuery(raw.url), body };
    const request: ApiRequest = {
      caller,
      address: context.env.address,
      userAgent: raw.headers.get('user-agent')?.slice(0, USER_AGENT_MAX) ?? null,
      requestId,
      rawBody,
      header: (header) => raw.headers.get(header),
      signal: AbortSignal.any([raw.signal, this.#ending.signal]),
    };
    const format = routeOf(name).format ?? 'json';
    if (format === 'json') {
      const answer = await this.#api.ask(name, question, request);
      return jsonAnswer(200, answer, { 'x-request-id': requestId });
    }
    return this.#stream(name, format, question, request);
  }

  async #signIn(context: Context<Env>): Promise<Response> {
    const { raw } = context.req;
    const requestId = context.get('requestId');
    const bytes = await readBytes(raw, this.#options.bodyMaxBytes);
    const body = bytes.length === 0 ? null : readJson(raw, bytes);
    const isNone = body === null && bytes.length > 0;
    if (typeof body !== 'object' || Array.isArray(body) || isNone)
      throw new ApiError(422, 'INVALID_FIELDS', 'the body must be a JSON object');
    const asked = {
      request: raw,
      address: context.env.address,
      requestId,
      body: body as SignInRequest['body'],
    };
    const answer = await this.#parts.signIn.answer(asked);
    checkSignInAnswer(answer);
    const response =
      answer.location === null
        ? jsonAnswer(answer.status, answer.body, { 'x-request-id': requestId })
        : new Response(null, { status: 302, headers: { ...apiHeaders, location: answer.location } });
    for (const cookie of answer.cookies) response.headers.append('set-cookie', cookie);
    return response;
  }

  async #stream(
    name: ContractName,
    format: 'csv' | 'jsonl' | 'events',
    question: Parameters<ControlApi['ask']>[1],
    request: ApiRequest,
  ): Promise<Response> {
    if (this.#streams >= this.#options.streamsMax)
      throw new ApiError(503, 'OVERLOADED', 'too many long answers are under way: try again soon', {
        retryAfter: 5,
      });
    this.#streams++;
    const onEnd = (): void => {
      this.#streams--;
    };
    try {
      const lines = (await this.#api.ask(name, question, request)) as unknown as AsyncIterable<string>;
      return streamAnswer(
        lines,
        { 'x-request-id': request.requestId, ...savedAs(name, format) },
        {
          format,
          heartbeatMs: this.#options.heartbeatMs,
          onEnd,
          onError: (thrown) =>
            this.#api.log.error({ err: thrown, requestId: request.requestId }, 'an answer broke off'),
        },
      );
    } catch (thrown) {
      onEnd();
      throw thrown;
    }
  }

  #refuse(thrown: unknown, context: Context<Env>): Response {
    const requestId = context.get('requestId') ?? randomUUID();
    if (!(thrown instanceof ApiError)) {
      const route = `${context.req.method} ${context.req.routePath}`;
      this.#api.log.error({ err: thrown, requestId, route }, 'the control API went wrong');
    }
    const { status, headers, body } = problemOf(thrown, requestId);
    return jsonAnswer(status, body, { ...headers, 'x-request-id': requestId });
  }
}

const USER_AGENT_MAX = 256;

const noSuchRoute = (): ApiError =>
  new ApiError(404, 'NO_SUCH_ROUTE', `nothing answers here: ${API_PREFIX}/openapi.json has what there is`);

const wrongVerb = (verbs: readonly string[]): ApiError =>
  new ApiError(405, 'METHOD_NOT_ALLOWED', `this path knows ${verbs.join(', ')}`);

const overloaded = (): ApiError =>
  new ApiError(503, 'OVERLOADED', 'too many requests are under way: try again soon', { retryAfter: 1 });

/** A refusal before a request is anybody's. */
export function problemAnswer(problem: ApiError): Response {
  const { status, headers, body } = problemOf(problem, randomUUID());
  return jsonAnswer(status, body, headers);
}

/** Paths of the API need no escapes; what has some tries to be another path than it looks. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9][A-Za-z0-9._:-]*)+$/;

/** What browsers name a file that is downloaded. */
function savedAs(name: ContractName, format: 'csv' | 'jsonl' | 'events'): Record<string, string> {
  if (format === 'events') return {};
  return { 'content-disposition': `attachment; filename="solway-${name.split('/').at(-1)}"` };
}
