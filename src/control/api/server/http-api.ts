import { randomUUID } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { withDefaults } from '../../../base/with-defaults.ts';
import { type AuthGuard, checkSignInResponse, type SignInRequest } from '../../accounts/auth-guard.ts';
import { AUTH_PREFIX } from '../../accounts/sign-in-library.ts';
import { isStoreUnavailable } from '../../database/store-unavailable.ts';
import { PeriodicTask } from '../../periodic-task.ts';
import { ApiError } from '../api-error.ts';
import { type ContractName, contract, type RawRouteInput, routeOf } from '../contract/contract.ts';
import { type ApiCaller, callerKeyOf } from '../handler.ts';
import { authorize, isOperator, isRevocation } from './authorize.ts';
import type { ApiRequest, ControlApi } from './control-api.ts';
import { type ApiConcurrency, apiConcurrency, type ControlApiOptions, controlApiOptions } from './limits.ts';
import { openApiDocument } from './open-api.ts';
import { parseRouteInput, readBytes, readJson, readQuery } from './read-request.ts';
import {
  apiHeaders,
  jsonResponse,
  problemResponse,
  type StreamFormat,
  streamHeaders,
  streamOf,
} from './response.ts';

const API_PREFIX = '/api/v1';

type ApiClientFacts = Readonly<{
  /** Address of the client, even behind trusted proxies. */
  address: string;
}>;

type HttpApiParts = Readonly<{
  api: ControlApi;
  /** @throws ApiError 401 for an invalid token, 403 for a cross-origin write, 429 for too many failed attempts */
  identify(request: Request, client: ApiClientFacts): Promise<ApiCaller>;
  signIn: Pick<AuthGuard, 'handle'>;
  options?: Partial<ControlApiOptions>;
}>;

type ReceivedBody = ApiClientFacts & Readonly<{ bytes: Uint8Array }>;

type Env = { Bindings: ReceivedBody; Variables: { requestId: string } };

export class HttpApi {
  readonly #api: ControlApi;
  readonly #parts: HttpApiParts;
  readonly #options: ControlApiOptions;
  readonly #app = new Hono<Env>();
  readonly #ending = new AbortController();
  readonly #concurrency: ApiConcurrency;
  #nextUnavailableLogAt = Number.NEGATIVE_INFINITY;

  constructor(parts: HttpApiParts) {
    this.#parts = parts;
    this.#api = parts.api;
    this.#options = withDefaults(controlApiOptions, parts.options);
    this.#concurrency = apiConcurrency(this.#options);
    this.#app.use(async (context, next) => {
      context.set('requestId', randomUUID());
      await next();
    });
    this.#app.onError((thrown, context) => this.#toErrorResponse(thrown, context));
    this.#app.notFound((context) => this.#toErrorResponse(noSuchRoute(), context));
    this.#addRoutes();
    this.#app.on(['GET', 'POST'], `${AUTH_PREFIX}/*`, (context) => this.#signIn(context));
  }

  /** Never rejects. */
  async fetch(request: Request, client: ApiClientFacts): Promise<Response> {
    if (!PLAIN_PATH.test(new URL(request.url).pathname)) return problemResponse(noSuchRoute(), randomUUID());
    try {
      const bytes = await this.#read(request, client);
      return await this.#concurrency.forRequest(client.address, async () =>
        this.#app.fetch(request, { ...client, bytes }),
      );
    } catch (thrown) {
      return this.#rejectEarly(thrown, request);
    }
  }

  /** Reads the body before authentication and outside the request limit, so that slow senders do not block others. */
  #read(request: Request, { address }: ApiClientFacts): Promise<Uint8Array> {
    if (request.method === 'GET' || request.method === 'HEAD') return Promise.resolve(new Uint8Array(0));
    const { bodyMaxBytes: maxBytes, bodyTimeoutMs: timeoutMs } = this.#options;
    return this.#concurrency.forBody(address, () => readBytes(request, { maxBytes, timeoutMs }));
  }

  #rejectEarly(thrown: unknown, request: Request): Response {
    if (!(thrown instanceof ApiError) && !request.signal.aborted)
      this.#api.log.warn({ err: thrown }, 'Failed to read a control API request');
    // Closes the connection: otherwise, the rest of the body would be parsed as the next request.
    return problemResponse(thrown, randomUUID(), { connection: 'close' });
  }

  endStreams(): void {
    this.#ending.abort();
  }

  #addRoutes(): void {
    const names = Object.keys(contract) as ContractName[];
    const routes = names.map((name) => {
      const [verb = '', path = ''] = name.split(' ');
      return { name, verb, pattern: `${API_PREFIX}${path.replaceAll(/\{(\w+)\}/g, ':$1')}` };
    });
    for (const { name, verb, pattern } of routes)
      this.#app.on(verb, pattern, (context) => this.#handle(name, context));
    const document = openApiDocument();
    this.#app.get(`${API_PREFIX}/openapi.json`, () => jsonResponse(200, document, {}));
    for (const [pattern, others] of Map.groupBy(routes, (route) => route.pattern)) {
      const verbs = others.map(({ verb }) => verb);
      this.#app.all(pattern, (context) => this.#toErrorResponse(wrongVerb(verbs), context));
    }
  }

  async #handle(name: ContractName, context: Context<Env>): Promise<Response> {
    const { raw } = context.req;
    const requestId = context.get('requestId');
    const caller = await this.#parts.identify(raw, context.env);
    const { bytes: rawBody, address } = context.env;
    const body = routeOf(name).body === undefined ? undefined : readJson(raw, rawBody);
    const input = { path: context.req.param() as Record<string, string>, query: readQuery(raw.url), body };
    const request: ApiRequest = {
      caller,
      address,
      userAgent: raw.headers.get('user-agent')?.slice(0, USER_AGENT_MAX) ?? null,
      requestId,
      rawBody,
      header: (header) => raw.headers.get(header),
      signal: AbortSignal.any([raw.signal, this.#ending.signal]),
    };
    const format = routeOf(name).format ?? 'json';
    if (format === 'json') {
      const output = await this.#api.dispatch(name, input, request);
      return jsonResponse(200, output, { 'x-request-id': requestId });
    }
    if (raw.method === 'HEAD') {
      // For HEAD requests, Hono would run the GET handler and drop the stream without ending it.
      await authorize(this.#api.services.store.db, name, input.path, caller);
      parseRouteInput(name, input);
      return new Response(null, { headers: streamHeaders(name, format, requestId) });
    }
    const again = (): Promise<ApiCaller> => this.#parts.identify(raw, context.env);
    return this.#stream(name, format, input, request, again);
  }

  async #signIn(context: Context<Env>): Promise<Response> {
    const { raw } = context.req;
    const requestId = context.get('requestId');
    const { bytes, address } = context.env;
    const body = bytes.length === 0 ? {} : readJson(raw, bytes);
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw new ApiError(422, 'INVALID_FIELDS', 'The body must be a JSON object');
    const signInRequest = { request: raw, address, requestId, body: body as SignInRequest['body'] };
    const signInResponse = await this.#parts.signIn.handle(signInRequest);
    checkSignInResponse(signInResponse);
    const response =
      signInResponse.location === null
        ? jsonResponse(signInResponse.status, signInResponse.body, { 'x-request-id': requestId })
        : new Response(null, { status: 302, headers: { ...apiHeaders, location: signInResponse.location } });
    for (const cookie of signInResponse.cookies) response.headers.append('set-cookie', cookie);
    return response;
  }

  async #stream(
    name: ContractName,
    format: StreamFormat,
    input: RawRouteInput,
    request: ApiRequest,
    identifyAgain: () => Promise<ApiCaller>,
  ): Promise<Response> {
    const { caller, requestId } = request;
    const release = await this.#concurrency.acquireStream(callerKeyOf(caller), isOperator(caller));
    const { heartbeatMs, recheckMs } = this.#options;
    const revoked = new AbortController();
    const rechecks = new PeriodicTask(async () => {
      try {
        await authorize(this.#api.services.store.db, name, input.path, await identifyAgain());
      } catch (thrown) {
        if (!isRevocation(thrown)) return;
        revoked.abort();
        void rechecks.stop();
      }
    }, recheckMs);
    if (format === 'events') rechecks.start();
    const onEnd = (): void => {
      void rechecks.stop();
      release();
    };
    const onError = (thrown: unknown): void =>
      this.#api.log.error({ err: thrown, requestId }, 'Control API response stream failed');
    try {
      const streamRequest = { ...request, signal: AbortSignal.any([request.signal, revoked.signal]) };
      const lines = await this.#api.dispatch(name, input, streamRequest);
      const options = { format, heartbeatMs, onEnd, onError };
      const body = streamOf(lines as unknown as AsyncIterable<string>, options);
      return new Response(body, { headers: streamHeaders(name, format, requestId) });
    } catch (thrown) {
      onEnd();
      throw thrown;
    }
  }

  async #toErrorResponse(thrown: unknown, context: Context<Env>): Promise<Response> {
    const requestId = context.get('requestId') ?? randomUUID();
    const isUnexpected = !(thrown instanceof ApiError);
    const unavailable = isUnexpected && (await this.#isUnavailable(thrown)) ? this.#storeUnavailable() : null;
    if (isUnexpected && unavailable === null) {
      const route = `${context.req.method} ${context.req.routePath}`;
      this.#api.log.error({ err: thrown, requestId, route }, 'Control API request failed');
    }
    return problemResponse(unavailable ?? thrown, requestId, { 'x-request-id': requestId });
  }

  /** Also probes the store, because the sign-in library hides the causes of its errors. */
  async #isUnavailable(thrown: unknown): Promise<boolean> {
    if (isStoreUnavailable(thrown)) return true;
    const { db } = this.#api.services.store;
    const probe = db.selectFrom('change_counter').select('version').executeTakeFirst();
    return probe.then(() => false, isStoreUnavailable);
  }

  #storeUnavailable(): ApiError {
    const now = performance.now();
    if (now >= this.#nextUnavailableLogAt) {
      this.#nextUnavailableLogAt = now + UNAVAILABLE_LOG_INTERVAL_MS;
      this.#api.log.warn('Database unreachable; the control API responds with 503');
    }
    return new ApiError(503, 'STORE_AWAY', 'The database is unreachable. Try again soon.', {
      retryAfter: 5,
    });
  }
}

const UNAVAILABLE_LOG_INTERVAL_MS = 60_000;
const USER_AGENT_MAX = 256;

const noSuchRoute = (): ApiError =>
  new ApiError(
    404,
    'NO_SUCH_ROUTE',
    `There is no such route. See ${API_PREFIX}/openapi.json for all routes.`,
  );

const wrongVerb = (verbs: readonly string[]): ApiError =>
  new ApiError(405, 'METHOD_NOT_ALLOWED', `This path allows ${verbs.join(', ')}`);

/** API paths never contain percent-encoded characters. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9][A-Za-z0-9._:-]*)+$/;
