import { connect, type Socket } from 'node:net';
import { createLogger } from '../../src/base/log.ts';
import { Admission } from '../../src/gateway/admission.ts';
import { digestApiKey, generateApiKey } from '../../src/gateway/auth/api-key.ts';
import { KeyAuthenticator } from '../../src/gateway/auth/key-authenticator.ts';
import { defaultPlanLimits, type KeyRecord, type PlanLimits } from '../../src/gateway/auth/key-record.ts';
import { CallMeter } from '../../src/gateway/metering/call-meter.ts';
import { UsageMeter } from '../../src/gateway/metering/usage-meter.ts';
import { createPipeline } from '../../src/gateway/pipeline.ts';
import type { RestLimits } from '../../src/gateway/rest/limits.ts';
import { RestGateway } from '../../src/gateway/rest/rest-gateway.ts';
import type { Call, RpcResponse } from '../../src/protocol/call.ts';
import type { Product } from '../../src/protocol/product.ts';
import type { RestRoute } from '../../src/protocol/rest/route.ts';
import type { FastHttpOptions } from '../../src/servers/fast-path/context.ts';
import { FastHttpServer } from '../../src/servers/fast-path/server.ts';
import type { HttpOptions } from '../../src/servers/http/options.ts';
import { joinRoutes } from '../../src/servers/http/routes.ts';
import { HttpServer } from '../../src/servers/http/server.ts';
import { healthRoutes } from '../../src/servers/operator-routes.ts';
import { errorBody } from '../../src/servers/rest/encode.ts';
import { REST_PREFIX, restRoutes } from '../../src/servers/rest/server.ts';
import { RpcCalls } from '../../src/servers/rpc/calls.ts';
import type { RpcServerOptions } from '../../src/servers/rpc/options.ts';
import { rpcRoutes } from '../../src/servers/rpc/server.ts';
import { internalKey } from '../project/callers.ts';
import { dispatcherOf } from '../upstream/mock/dispatcher.ts';

const pepper = Buffer.alloc(32, 1);

const testKeys = (): KeyAuthenticator => new KeyAuthenticator({ peppers: new Map([[1, pepper]]) });

/** Creates a key that `testKeys` accepts. */
export function newKey(
  product: Product,
  limits: Partial<PlanLimits>,
  change: Partial<KeyRecord>,
): Readonly<{ text: string; record: KeyRecord }> {
  const { text, id } = generateApiKey(product);
  const record: KeyRecord = {
    id,
    product,
    ...internalKey,
    familyId: id,
    name: 'test',
    digest: digestApiKey(text, pepper),
    pepperVersion: 1,
    status: 'active',
    expiresAt: null,
    limits: { ...defaultPlanLimits, ...limits },
    version: 1,
    ...change,
  };
  return { text, record };
}

/** `raw: false` disables the fast path. */
export type TestServerOptions = Partial<HttpOptions & FastHttpOptions> & Readonly<{ raw?: boolean }>;

export class ScriptedGateway {
  readonly keys = testKeys();
  readonly usage = new UsageMeter();
  readonly lines: string[] = [];
  readonly secrets: string[] = [];
  readonly calls: { call: Call; signal: AbortSignal | undefined }[] = [];
  answer: (call: Call) => Promise<RpcResponse> = async ({ params }) =>
    result(`{"params":${params ?? 'null'}}`);
  port = 0;
  protected readonly parts = {
    admission: new Admission({ keys: this.keys }),
    source: dispatcherOf((call, signal) => {
      this.calls.push({ call, signal });
      return this.answer(call);
    }),
    meter: new CallMeter({ usage: this.usage }),
    log: createLogger('trace', (line) => this.lines.push(line)),
  };

  constructor() {
    this.keys.setStoreReachable(true);
  }

  rawClient(): RawClient {
    return new RawClient(connect(this.port, '127.0.0.1'));
  }
}

export class TestHttpServer extends ScriptedGateway {
  readonly http: HttpServer;
  readonly fastPath: FastHttpServer | null;
  usableNodes = 1;

  constructor(
    { raw = true, ...http }: TestServerOptions,
    rpc: Partial<RpcServerOptions>,
    rest: readonly RestRoute[],
    limits: Partial<RestLimits>,
  ) {
    super();
    const { log } = this.parts;
    const facts = () => ({
      store: 'up' as const,
      upstreams: { total: 1, usable: this.usableNodes },
      draining: this.http.draining,
      mode: 'production' as const,
    });
    const restHandler = restRoutes(new RestGateway(this.parts, limits), rest, {
      bodyMaxBytes: 64 * 1024,
      ...(rpc.compression === undefined ? {} : { compression: rpc.compression }),
    });
    const calls = new RpcCalls(createPipeline(this.parts), rpc);
    const routes = joinRoutes(rpcRoutes(calls), restHandler, healthRoutes(facts));
    this.fastPath = raw ? new FastHttpServer(calls, log, http) : null;
    const refusals = new Map([[REST_PREFIX, errorBody]]);
    this.http = new HttpServer(routes, log, http, [], refusals, this.fastPath);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/v1/rpc`;
  }

  createKey(
    product: Product = 'rpc',
    limits: Partial<PlanLimits> = { rpcPerSecond: 0, rpcBurst: 0 },
    change: Partial<KeyRecord> = {},
  ): string {
    const { text, record } = newKey(product, limits, change);
    this.secrets.push(text);
    this.keys.apply([record]);
    return text;
  }

  post(body: string | Buffer, key: string | null, headers: Record<string, string> = {}): Promise<Response> {
    const authorization: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
    const type = { 'content-type': 'application/json' };
    return fetch(this.url, {
      method: 'POST',
      body: new Uint8Array(Buffer.from(body)),
      headers: { ...type, ...authorization, ...headers },
    });
  }

  connect(): RawClient {
    return this.rawClient();
  }

  /** @throws Error if a key was logged. */
  async stop(): Promise<void> {
    await this.http.drain(0);
    const logged = this.lines.join('\n');
    if (this.secrets.some((secret) => logged.includes(secret.slice(-38))))
      throw new Error('a secret was logged');
  }
}

export class RawClient {
  readonly socket: Socket;
  received = '';
  closed = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text) => {
      this.received += text;
    });
    socket.on('error', () => {});
    socket.once('close', () => {
      this.closed = true;
    });
  }

  until(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        if (!pattern.test(this.received)) return;
        this.socket.off('data', check);
        resolve(this.received);
      };
      this.socket.on('data', check);
      this.socket.once('close', () => reject(new Error(`closed after: ${this.received}`)));
      check();
    });
  }

  ended(): Promise<string> {
    if (this.closed) return Promise.resolve(this.received);
    return new Promise((resolve) => this.socket.once('close', () => resolve(this.received)));
  }
}

export const result = (body: string): RpcResponse => ({ body: Buffer.from(body), errorCode: 0 });

/** A request with the headers of an ordinary client. */
export function rawPost(key: string | null, body: string, extra = ''): string {
  const authorization = key === null ? '' : `authorization: Bearer ${key}\r\n`;
  return (
    `POST /v1/rpc HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${authorization}${extra}` +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

export async function startHttpServer(
  http: TestServerOptions = {},
  rpc: Partial<RpcServerOptions> = {},
  rest: readonly RestRoute[] = [],
  limits: Partial<RestLimits> = {},
): Promise<TestHttpServer> {
  const server = new TestHttpServer(http, rpc, rest, limits);
  server.port = (await server.http.listen()).port;
  return server;
}
