import { Server, ServerCredentials, type ServerDuplexStream, type ServerWritableStream } from '@grpc/grpc-js';
import { SubscribeDeshredRequest, SubscribeUpdateDeshred } from '@triton-one/yellowstone-grpc';

/** Scripted servers of @grpc/grpc-js. */

export type DeshredCall = ServerDuplexStream<SubscribeDeshredRequest, SubscribeUpdateDeshred>;
export type EntriesCall = ServerWritableStream<Buffer, Buffer>;

const bytes = (value: Buffer): Buffer => value;

const definition = {
  subscribeDeshred: {
    path: '/geyser.Geyser/SubscribeDeshred',
    ...{ requestStream: true, responseStream: true },
    requestSerialize: (value: SubscribeDeshredRequest) =>
      Buffer.from(SubscribeDeshredRequest.encode(value).finish()),
    requestDeserialize: (value: Buffer) => SubscribeDeshredRequest.decode(value),
    responseSerialize: (value: SubscribeUpdateDeshred) =>
      Buffer.from(SubscribeUpdateDeshred.encode(value).finish()),
    responseDeserialize: (value: Buffer) => SubscribeUpdateDeshred.decode(value),
  },
  subscribeEntries: {
    path: '/shredstream.ShredstreamProxy/SubscribeEntries',
    ...{ requestStream: false, responseStream: true },
    ...{ requestSerialize: bytes, requestDeserialize: bytes },
    ...{ responseSerialize: bytes, responseDeserialize: bytes },
  },
} as const;

/** Both methods of the shred stage on one port. Records requests; the test sends the responses. */
export class ScriptedServer {
  readonly deshredCalls: DeshredCall[] = [];
  readonly entriesCalls: EntriesCall[] = [];
  readonly requests: SubscribeDeshredRequest[] = [];
  readonly tokens: string[] = [];
  readonly #server = new Server();
  #waiting: (() => void)[] = [];
  port = 0;

  static async start(port = 0): Promise<ScriptedServer> {
    const scripted = new ScriptedServer();
    scripted.#server.addService(definition, {
      subscribeDeshred: (call: DeshredCall) => scripted.#deshred(call),
      subscribeEntries: (call: EntriesCall) => scripted.#entries(call),
    });
    scripted.port = await new Promise<number>((resolve, reject) => {
      const credentials = ServerCredentials.createInsecure();
      scripted.#server.bindAsync(`127.0.0.1:${port}`, credentials, (error, at) =>
        error === null ? resolve(at) : reject(error),
      );
    });
    return scripted;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  stop(): void {
    this.#server.forceShutdown();
  }

  #received(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  #deshred(call: DeshredCall): void {
    this.deshredCalls.push(call);
    this.tokens.push(String(call.metadata.get('x-token')[0]));
    call.on('error', () => {});
    call.on('data', (request: SubscribeDeshredRequest) => {
      this.requests.push(request);
      this.#received();
    });
    this.#received();
  }

  #entries(call: EntriesCall): void {
    this.entriesCalls.push(call);
    this.tokens.push(String(call.metadata.get('x-token')[0]));
    call.on('error', () => {});
    this.#received();
  }
}
