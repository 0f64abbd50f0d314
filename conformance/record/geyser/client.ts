import { join } from 'node:path';
import {
  type ChannelOptions,
  type ClientDuplexStream,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

/** A message as grpc-js reads it: u64 as text, enums as names, bytes as buffers, absent members left out. */
export type Message = { readonly [name: string]: unknown };

export type UnaryMethod =
  | 'Ping'
  | 'GetVersion'
  | 'GetSlot'
  | 'GetBlockHeight'
  | 'GetLatestBlockhash'
  | 'IsBlockhashValid'
  | 'SubscribeReplayInfo';

type UnaryCall = (
  request: Message,
  metadata: Metadata,
  callback: (error: ServiceError | null, response?: Message) => void,
) => void;

type GeyserStub = { Subscribe: (metadata: Metadata) => ClientDuplexStream<Message, Message> } & Record<
  UnaryMethod,
  UnaryCall
> & { close: () => void };

const definition = loadSync(join(import.meta.dirname, '../../../proto/geyser.proto'), {
  ...{ keepCase: true, longs: String, enums: String, defaults: true, oneofs: true },
});

type GeyserConstructor = new (
  address: string,
  channel: ReturnType<typeof credentials.createInsecure>,
  options: ChannelOptions,
) => GeyserStub;

const { geyser } = loadPackageDefinition(definition) as unknown as {
  geyser: { Geyser: GeyserConstructor };
};

/** Code and message of a status that is not OK. */
export const statusText = ({ code, details }: ServiceError): string => `${code} ${details}`;

/** Of the ping that is sent last: its pong comes after all updates. */
const LAST_PING = 1_000_000;

/** An open stream and what it received; pings are not recorded. */
export class RecordedStream {
  readonly updates: Message[] = [];
  /** Why it ended; null while it is open, or after the server ended it without an error. */
  status: string | null = null;
  readonly opened: Promise<void>;
  readonly ended: Promise<void>;
  readonly #flushed = Promise.withResolvers<void>();
  readonly #stream: ClientDuplexStream<Message, Message>;

  constructor(stream: ClientDuplexStream<Message, Message>, requests: readonly Message[]) {
    this.#stream = stream;
    const opened = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    this.opened = opened.promise;
    this.ended = ended.promise;
    stream.on('data', (update: Message) => {
      opened.resolve();
      if ((update.pong as Message | null | undefined)?.id === LAST_PING) this.#flushed.resolve();
      else if (update.update_oneof !== 'ping') this.updates.push(update);
    });
    // grpc-js does not close a stream that ended with an error.
    const end = (): void => {
      opened.resolve();
      ended.resolve();
      this.#flushed.resolve();
    };
    stream.on('error', (error: ServiceError) => {
      this.status ??= statusText(error);
      end();
    });
    stream.on('close', end);
    for (const request of requests) stream.write(request);
  }

  /** Waits for all updates that the server has sent so far. */
  flush(): Promise<void> {
    if (this.status === null) this.#stream.write({ ping: { id: LAST_PING } });
    return this.#flushed.promise;
  }

  close(): void {
    this.#stream.cancel();
  }
}

/** Servers limit the streams of a connection, often to 100. */
const STREAMS_PER_CONNECTION = 50;

/** The Yellowstone service of a node, through a general gRPC library. */
export class GeyserClient {
  readonly #address: string;
  readonly #metadata = new Metadata();
  readonly #stubs: GeyserStub[] = [];
  #streams = 0;

  /** @param address - host and port. */
  constructor(address: string, token: string | null = null) {
    this.#address = address;
    if (token !== null) this.#metadata.set('x-token', token);
  }

  open(requests: readonly Message[]): RecordedStream {
    const stub = this.#stub(Math.floor(this.#streams++ / STREAMS_PER_CONNECTION));
    return new RecordedStream(stub.Subscribe(this.#metadata), requests);
  }

  /** @returns the response, or the status as text. */
  call(method: UnaryMethod, request: Message): Promise<Message | string> {
    return new Promise((resolve) => {
      this.#stub(0)[method](request, this.#metadata, (error, response) =>
        resolve(error === null ? (response ?? {}) : statusText(error)),
      );
    });
  }

  close(): void {
    for (const stub of this.#stubs) stub.close();
  }

  /** Each has a connection of its own. */
  #stub(index: number): GeyserStub {
    const options = { 'grpc.max_receive_message_length': -1, 'grpc.use_local_subchannel_pool': 1 };
    this.#stubs[index] ??= new geyser.Geyser(this.#address, credentials.createInsecure(), options);
    return this.#stubs[index];
  }
}
