import { Metadata, Server, ServerCredentials, type ServerDuplexStream, status } from '@grpc/grpc-js';
import { SubscribeRequest, SubscribeUpdate } from '@triton-one/yellowstone-grpc';
import { wholeSlot } from './geyser-updates.ts';

export type GeyserStream = ServerDuplexStream<SubscribeRequest, SubscribeUpdate>;
export type UpdateMessage = Partial<SubscribeUpdate>;

export type OnRequest = (request: SubscribeRequest, stream: GeyserStream) => void;

const definition = {
  subscribe: {
    path: '/geyser.Geyser/Subscribe',
    requestStream: true,
    responseStream: true,
    requestSerialize: (value: SubscribeRequest) => Buffer.from(SubscribeRequest.encode(value).finish()),
    requestDeserialize: (bytes: Buffer) => SubscribeRequest.decode(bytes),
    responseSerialize: (value: SubscribeUpdate) => Buffer.from(SubscribeUpdate.encode(value).finish()),
    responseDeserialize: (bytes: Buffer) => SubscribeUpdate.decode(bytes),
  },
} as const;

/** A @grpc/grpc-js server on a free port; tests can wait for what it receives. */
export class ScriptedGrpcServer {
  protected readonly server = new Server();
  #waiting: (() => void)[] = [];
  port = 0;

  async listen(port: number): Promise<this> {
    this.port = await new Promise<number>((resolve, reject) => {
      const credentials = ServerCredentials.createInsecure();
      this.server.bindAsync(`127.0.0.1:${port}`, credentials, (error, at) =>
        error === null ? resolve(at) : reject(error),
      );
    });
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  stop(): void {
    this.server.forceShutdown();
  }

  protected received(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}

/** A scripted Geyser server, based on @grpc/grpc-js and the published codec. */
export class GeyserServer extends ScriptedGrpcServer {
  readonly requests: SubscribeRequest[] = [];
  readonly pings: number[] = [];
  readonly tokens: string[] = [];
  readonly streams: GeyserStream[] = [];
  onRequest: OnRequest = () => {};
  answersPings = true;
  readonly #token: string | null;

  private constructor(token: string | null) {
    super();
    this.#token = token;
    this.server.addService(definition, { subscribe: (stream: GeyserStream) => this.#subscribe(stream) });
  }

  static start(token: string | null = null, port = 0): Promise<GeyserServer> {
    return new GeyserServer(token).listen(port);
  }

  get stream(): GeyserStream {
    return this.streams.at(-1)!;
  }

  send(...updates: readonly UpdateMessage[]): void {
    for (const update of updates) this.stream.write(SubscribeUpdate.fromPartial(update as never));
  }

  slot(slot: number, ...content: readonly UpdateMessage[]): void {
    this.send(...wholeSlot(slot, ...content));
  }

  fail(code: number, details: string): void {
    this.stream.emit('error', Object.assign(new Error(details), { code, details }));
  }

  #subscribe(stream: GeyserStream): void {
    const token = String(stream.metadata.get('x-token')[0] ?? '');
    this.tokens.push(token);
    if (this.#token !== null && token !== this.#token) {
      stream.emit('error', { code: status.UNAUTHENTICATED, details: `No valid auth token: ${token}` });
      this.received();
      return;
    }
    this.streams.push(stream);
    stream.sendMetadata(new Metadata());
    stream.on('error', () => {});
    stream.on('cancelled', () => this.received());
    stream.on('data', (request: SubscribeRequest) => this.#take(request, stream));
  }

  #take(request: SubscribeRequest, stream: GeyserStream): void {
    if (request.ping === undefined) {
      this.requests.push(request);
      this.onRequest(request, stream);
    } else {
      this.pings.push(request.ping.id);
      if (this.answersPings) stream.write(SubscribeUpdate.fromPartial({ pong: { id: request.ping.id } }));
    }
    this.received();
  }
}
