import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { createLogger } from '../../../src/base/log.ts';
import { Failure } from '../../../src/protocol/errors.ts';
import { requestBounds } from '../../../src/protocol/geyser/request/request-faults.ts';
import type { SubscribeRequest } from '../../../src/protocol/geyser/subscribe-request.ts';
import { encodeFrame, GrpcFrames } from '../../../src/protocol/grpc/frames.ts';
import type { Caller } from '../../../src/protocol/request-handler.ts';
import type { GrpcServerOptions } from '../../../src/servers/grpc/options.ts';
import { GrpcServer } from '../../../src/servers/grpc/server.ts';
import type { IsServing } from '../../../src/servers/grpc/standard-services.ts';
import type { GeyserHandler, GeyserStream, StreamRpc } from '../../../src/streams/geyser/geyser-handler.ts';
import type { GeyserSink } from '../../../src/streams/geyser/geyser-sink.ts';

export const TOKEN = 'svc_grpc_live_open';
export const NONE = new Uint8Array();

export class FakeGeyserStream implements GeyserStream {
  readonly rpc: StreamRpc;
  readonly sink: GeyserSink;
  readonly onEnd: (failure: Failure) => void;
  readonly isUrgent = false;
  readonly bounds = requestBounds;
  readonly requests: unknown[] = [];
  messages = 0;
  bytes = 0;
  receivedMessages = 0;
  receivedBytes = 0;
  restMs = 0;
  closed = 0;
  lags = 0;
  onRequest: (request: SubscribeRequest) => Promise<void> = async () => {};
  #wake: () => void = () => {};

  constructor(rpc: StreamRpc, sink: GeyserSink, onEnd: (failure: Failure) => void) {
    this.rpc = rpc;
    this.sink = sink;
    this.onEnd = onEnd;
  }

  async request(request: unknown): Promise<void> {
    this.requests.push(request);
    this.#wake();
    await this.onRequest(request as SubscribeRequest);
  }

  recordSent(messages: number, bytes: number): void {
    this.messages += messages;
    this.bytes += bytes;
    this.#wake();
  }

  recordLagged(): void {
    this.lags++;
  }

  recordReceived(messages: number, bytes: number): number {
    this.receivedMessages += messages;
    this.receivedBytes += bytes;
    return this.restMs;
  }

  close(): void {
    this.closed += 1;
    this.#wake();
  }

  async until(holds: (stream: this) => boolean): Promise<void> {
    while (!holds(this)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

export class TestGrpcServer {
  readonly opened: FakeGeyserStream[] = [];
  readonly lines: string[] = [];
  readonly server: GrpcServer;
  readonly #sessions: ClientHttp2Session[] = [];
  unary: GeyserHandler['unary'] = async (_caller, _rpc, request) => request;
  onOpen: (stream: FakeGeyserStream) => void = () => {};
  port = 0;
  readonly #waiting = new Set<() => void>();

  constructor(options: Partial<GrpcServerOptions> = {}, health: IsServing = () => true) {
    const handler: GeyserHandler = {
      open: (caller, rpc, sink, onEnd) => {
        check(caller);
        const stream = new FakeGeyserStream(rpc, sink, onEnd);
        this.onOpen(stream);
        this.opened.push(stream);
        for (const check of this.#waiting) check();
        return stream;
      },
      admit: check,
      unary: async (caller, rpc, request) => {
        check(caller);
        return this.unary(caller, rpc, request);
      },
    };
    const log = createLogger('trace', (line) => this.lines.push(line));
    this.server = new GrpcServer({ handler: handler, health, log }, options);
  }

  async listen(): Promise<this> {
    this.port = (await this.server.listen()).port;
    return this;
  }

  async stream(nth = 0): Promise<FakeGeyserStream> {
    while (this.opened.length <= nth) await new Promise<void>((resolve) => this.#waiting.add(resolve));
    return this.opened[nth] as FakeGeyserStream;
  }

  session(): ClientHttp2Session {
    const session = connect(`http://127.0.0.1:${this.port}`);
    session.on('error', () => {});
    this.#sessions.push(session);
    return session;
  }

  call(path: string, headers: Record<string, string> = {}, session = this.session()): RawCall {
    return new RawCall(session, path, headers);
  }

  async stop(): Promise<void> {
    for (const session of this.#sessions) session.destroy();
    await this.server.close();
    if (this.lines.join('\n').includes(TOKEN)) throw new Error('a key was logged');
  }
}

function check({ credential }: Caller): void {
  if (credential === null) throw new Failure('MISSING_KEY');
  if (credential !== TOKEN) throw new Failure('INVALID_KEY');
}

export const SUBSCRIBE = '/geyser.Geyser/Subscribe';

type Headers = Record<string, string | string[] | number | undefined>;

export class RawCall {
  readonly stream: ClientHttp2Stream;
  readonly messages: Buffer[] = [];
  headers: Headers | null = null;
  trailers: Headers | null = null;
  isClosed = false;
  readonly #frames = new GrpcFrames({
    messageMaxBytes: 1 << 30,
    decompressionRatioMax: 1,
    ratioExemptBytes: 1 << 30,
  });
  readonly #waiting = new Set<() => void>();
  #taken = 0;

  constructor(session: ClientHttp2Session, path: string, headers: Record<string, string>) {
    const all = {
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      'x-token': TOKEN,
      ...headers,
    };
    const given = Object.entries(all).filter(([, value]) => value !== '');
    this.stream = session.request(Object.fromEntries(given), { endStream: false });
    this.stream.on('response', (got) => {
      this.headers = { ...got };
      const encoding = got['grpc-encoding'];
      if (typeof encoding === 'string') this.#frames.encoding = encoding;
      this.#note();
    });
    this.stream.on('trailers', (got) => {
      this.trailers = { ...got };
    });
    this.stream.on('error', () => {});
    this.stream.on('close', () => {
      this.isClosed = true;
      this.#note();
    });
    this.stream.on('data', (piece: Buffer) => {
      this.#frames.push(piece);
      for (let one = this.#frames.next(); one !== null; one = this.#frames.next()) this.messages.push(one);
      this.#note();
    });
  }

  send(message: Uint8Array): this {
    this.stream.write(encodeFrame(message));
    return this;
  }

  end(message?: Uint8Array): this {
    this.stream.end(message === undefined ? undefined : encodeFrame(message));
    return this;
  }

  async next(): Promise<Buffer> {
    await this.until(() => this.messages.length > this.#taken || this.isClosed);
    if (this.messages.length <= this.#taken) throw new Error(`closed: ${JSON.stringify(await this.ended())}`);
    return this.messages[this.#taken++] as Buffer;
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        const check = (): void => {
          this.#waiting.delete(check);
          resolve();
        };
        this.#waiting.add(check);
      });
    }
  }

  async ended(): Promise<Headers> {
    await this.until(() => this.isClosed);
    return { ...(this.trailers ?? this.headers), reset: this.stream.rstCode };
  }

  cancel(): void {
    this.stream.close(constants.NGHTTP2_CANCEL);
  }

  #note(): void {
    for (const check of [...this.#waiting]) check();
  }
}
