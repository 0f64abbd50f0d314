import type { ServerDuplexStream, ServerWritableStream } from '@grpc/grpc-js';
import { SubscribeDeshredRequest, SubscribeUpdateDeshred } from '@triton-one/yellowstone-grpc';
import { ScriptedGrpcServer } from '../upstream/feeds/geyser-server.ts';

/** Scripted servers, based on @grpc/grpc-js. */

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
export class ScriptedServer extends ScriptedGrpcServer {
  readonly deshredCalls: DeshredCall[] = [];
  readonly entriesCalls: EntriesCall[] = [];
  readonly requests: SubscribeDeshredRequest[] = [];
  readonly tokens: string[] = [];

  constructor() {
    super();
    this.server.addService(definition, {
      subscribeDeshred: (call: DeshredCall) => this.#deshred(call),
      subscribeEntries: (call: EntriesCall) => this.#entries(call),
    });
  }

  static start(port = 0): Promise<ScriptedServer> {
    return new ScriptedServer().listen(port);
  }

  #deshred(call: DeshredCall): void {
    this.deshredCalls.push(call);
    this.tokens.push(String(call.metadata.get('x-token')[0]));
    call.on('error', () => {});
    call.on('data', (request: SubscribeDeshredRequest) => {
      this.requests.push(request);
      this.received();
    });
    this.received();
  }

  #entries(call: EntriesCall): void {
    this.entriesCalls.push(call);
    this.tokens.push(String(call.metadata.get('x-token')[0]));
    call.on('error', () => {});
    this.received();
  }
}
