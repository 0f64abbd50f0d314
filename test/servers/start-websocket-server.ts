import { once } from 'node:events';
import WebSocket, { type ClientOptions } from 'ws';
import type { KeyRecord, PlanLimits } from '../../src/gateway/auth/key-record.ts';
import { createPipeline } from '../../src/gateway/pipeline.ts';
import { SessionMinSlots } from '../../src/gateway/session-min-slots.ts';
import { LiveConnections } from '../../src/gateway/telemetry/live-connections.ts';
import { WebSocketGateway, type WebSocketGatewayOptions } from '../../src/gateway/websocket/session.ts';
import type { Product } from '../../src/protocol/product.ts';
import { FastHttpServer } from '../../src/servers/fast-path/server.ts';
import type { HttpOptions } from '../../src/servers/http/options.ts';
import { joinRoutes } from '../../src/servers/http/routes.ts';
import { HttpServer } from '../../src/servers/http/server.ts';
import { RpcCalls } from '../../src/servers/rpc/calls.ts';
import { rpcRoutes } from '../../src/servers/rpc/server.ts';
import type { WebSocketOptions } from '../../src/servers/websocket/options.ts';
import { WebSocketUpgrade } from '../../src/servers/websocket/server.ts';
import type { Feed } from '../../src/streams/feed.ts';
import { ScriptedFeed } from '../streams/scripted-feed.ts';
import { newKey, type RawClient, ScriptedGateway } from './start-http-server.ts';

export type TestWebSocketOptions = Readonly<{
  http?: Partial<HttpOptions>;
  webSocket?: Partial<WebSocketOptions>;
  gate?: WebSocketGatewayOptions;
  feed?: Feed;
}>;

export class TestWebSocketServer extends ScriptedGateway {
  readonly connections = new LiveConnections();
  readonly feed = new ScriptedFeed();
  readonly http: HttpServer;
  readonly gateway: WebSocketGateway;
  readonly webSocket: WebSocketUpgrade;
  readonly #records = new Map<string, KeyRecord>();
  readonly #clients: Client[] = [];

  constructor({ http, webSocket, gate, feed }: TestWebSocketOptions = {}) {
    super();
    const parts = { ...this.parts, connections: this.connections, sessions: new SessionMinSlots() };
    const refusal = () => null;
    this.gateway = new WebSocketGateway({ ...parts, feed: feed ?? this.feed, rejection: refusal }, gate);
    this.webSocket = new WebSocketUpgrade(this.gateway, parts.log, webSocket);
    const calls = new RpcCalls(createPipeline(parts));
    const routes = joinRoutes(rpcRoutes(calls), this.webSocket.routes);
    // Connections arrive through the fast path, as in production.
    const fastPath = new FastHttpServer(calls, parts.log, http);
    this.http = new HttpServer(routes, parts.log, http, [this.webSocket], new Map(), fastPath);
  }

  async listen(): Promise<this> {
    this.port = (await this.http.listen()).port;
    return this;
  }

  createKey(
    limits: Partial<PlanLimits> = {},
    change: Partial<KeyRecord> = {},
    product: Product = 'rpc',
  ): string {
    const { text, record } = newKey(product, { rpcPerSecond: 0, ...limits }, change);
    this.secrets.push(text);
    this.#records.set(text, record);
    this.keys.apply([record]);
    return text;
  }

  changeKey(text: string, change: Partial<KeyRecord>): void {
    const record = this.#records.get(text) as KeyRecord;
    const changed = { ...record, ...change, version: record.version + 1 };
    this.#records.set(text, changed);
    this.keys.apply([changed]);
  }

  url(key: string | null, path = '/v1/ws'): string {
    return `ws://127.0.0.1:${this.port}${path}${key === null ? '' : `?api-key=${key}`}`;
  }

  async connect(
    key: string | null = this.createKey(),
    options: ClientOptions = {},
    path?: string,
  ): Promise<Client> {
    const client = new Client(new WebSocket(this.url(key, path), { perMessageDeflate: false, ...options }));
    this.#clients.push(client);
    await once(client.socket, 'open');
    return client;
  }

  async upgradedClient(key: string = this.createKey()): Promise<RawClient> {
    const wire = this.rawClient();
    wire.socket.write(handshake(`/v1/ws?api-key=${key}`));
    await wire.until(/\r\n\r\n/);
    wire.received = '';
    return wire;
  }

  async refusal(path: string, headers: Record<string, string> = {}): Promise<Refusal> {
    const wire = this.rawClient();
    wire.socket.write(handshake(path, headers));
    return readRefusal(await wire.ended());
  }

  async stop(): Promise<void> {
    for (const { socket } of this.#clients) socket.terminate();
    await this.http.drain(0);
    this.gateway.close();
    const logged = this.lines.join('\n');
    for (const secret of this.secrets) {
      if (logged.includes(secret.slice(-38))) throw new Error('a secret was logged');
    }
  }
}

export type Refusal = { status: number; head: string; body: unknown };

export function readRefusal(received: string): Refusal {
  const [head = '', body = ''] = received.split('\r\n\r\n');
  return {
    status: Number(head.slice(9, 12)),
    head: head.toLowerCase(),
    body: body === '' ? null : JSON.parse(body),
  };
}

/** An upgrade request with some headers replaced; empty ones are omitted. */
export function handshake(path: string, headers: Record<string, string> = {}): string {
  const all = {
    host: 'x',
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  };
  const lines = Object.entries(all)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}`);
  return [`GET ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n');
}

export class Client {
  readonly socket: WebSocket;
  readonly received: string[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  #taken = 0;
  #wake: () => void = () => {};
  #isClosed = false;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => {
      this.received.push(String(data));
      this.#wake();
    });
    socket.on('error', () => {});
    this.closed = new Promise((resolve) =>
      socket.on('close', (code, reason) => {
        this.#isClosed = true;
        this.#wake();
        resolve({ code, reason: String(reason) });
      }),
    );
  }

  async next(): Promise<string> {
    while (this.#taken >= this.received.length) {
      if (this.#isClosed) throw new Error('closed');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.received[this.#taken++] as string;
  }

  request(method: string, params?: unknown, id: unknown = 1): Promise<unknown> {
    this.send(method, params, id);
    return this.nextJson();
  }

  send(method: string, params?: unknown, id: unknown = 1): void {
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  }

  async nextJson(): Promise<unknown> {
    return JSON.parse(await this.next());
  }

  async settle(): Promise<void> {
    this.socket.ping();
    await once(this.socket, 'pong');
  }
}

/** A masked frame. @param first - the first byte: FIN and opcode. */
export function clientFrame(first: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(payload.length < 126 ? 2 : payload.length < 65_536 ? 4 : 10);
  head[0] = first;
  if (head.length === 2) head[1] = 0x80 | payload.length;
  else if (head.length === 4) {
    head[1] = 0x80 | 126;
    head.writeUInt16BE(payload.length, 2);
  } else {
    head[1] = 0x80 | 127;
    head.writeBigUInt64BE(BigInt(payload.length), 2);
  }
  // A zero mask leaves the payload unchanged.
  return Buffer.concat([head, Buffer.alloc(4), payload]);
}

export function closeOf(received: string): { code: number; reason: string } {
  const bytes = Buffer.from(received, 'latin1');
  const at = bytes.lastIndexOf(0x88);
  return { code: bytes.readUInt16BE(at + 2), reason: bytes.toString('utf8', at + 4) };
}
