import { Client, type ClientDuplexStream, credentials, Metadata, type StatusObject } from '@grpc/grpc-js';
import {
  encodeSubscribeRequest,
  type SubscribeRequest,
} from '../../src/protocol/geyser/subscribe-request.ts';

const asIs = (bytes: Buffer): Buffer => bytes;

/** Status code, message, and the error code from the trailers. */
export type Refusal = Readonly<{ status: number; text: string; name: string; facts: unknown }>;

const refusalOf = ({ code, details, metadata }: StatusObject): Refusal => {
  const facts = metadata.get('x-error-facts')[0];
  return {
    status: code,
    text: details,
    name: String(metadata.get('x-error-code')[0] ?? ''),
    facts: facts === undefined ? null : JSON.parse(String(facts)),
  };
};

export class ReceivedStream {
  messages = 0;
  bytes = 0;
  last: Buffer | null = null;
  readonly ended: Promise<Refusal>;
  readonly #stream: ClientDuplexStream<Buffer, Buffer>;
  readonly #first = Promise.withResolvers<void>();

  constructor(stream: ClientDuplexStream<Buffer, Buffer>) {
    this.#stream = stream;
    const { promise, resolve } = Promise.withResolvers<Refusal>();
    this.ended = promise;
    stream.on('data', (message: Buffer) => {
      this.messages++;
      this.bytes += message.length;
      this.last = message;
      this.#first.resolve();
    });
    stream.on('error', () => {});
    stream.on('status', (status: StatusObject) => resolve(refusalOf(status)));
  }

  get first(): Promise<void> {
    return this.#first.promise;
  }

  send(request: SubscribeRequest): void {
    this.#stream.write(Buffer.from(encodeSubscribeRequest(request)));
  }

  close(): void {
    this.#stream.cancel();
  }
}

/** A @grpc/grpc-js client for raw bytes. */
export class GrpcClient {
  readonly #client: Client;

  /** @param root - trusted certificate; omitted for plain text. */
  constructor(url: string, root?: Buffer) {
    const secure = root === undefined ? credentials.createInsecure() : credentials.createSsl(root);
    this.#client = new Client(new URL(url).host, secure, { 'grpc.max_receive_message_length': -1 });
  }

  /** Sends the one request that `SubscribeEntries` expects. @param headers - additional ones. */
  open(key: string | null, rpc: string, headers: Record<string, string> = {}): ReceivedStream {
    const service = rpc === 'SubscribeEntries' ? 'shredstream.ShredstreamProxy' : 'geyser.Geyser';
    const stream = this.#client.makeBidiStreamRequest(
      `/${service}/${rpc}`,
      asIs,
      asIs,
      metadataOf(key, headers),
    );
    if (rpc === 'SubscribeEntries') stream.end(Buffer.alloc(0));
    return new ReceivedStream(stream);
  }

  /** @returns the response bytes, or the error. */
  call(key: string | null, rpc: string, headers: Record<string, string> = {}): Promise<Buffer | Refusal> {
    return new Promise((resolve) => {
      const method = `/geyser.Geyser/${rpc}`;
      const empty = Buffer.alloc(0);
      this.#client.makeUnaryRequest(method, asIs, asIs, empty, metadataOf(key, headers), (error, answer) =>
        resolve(error === null ? (answer ?? empty) : refusalOf(error)),
      );
    });
  }

  close(): void {
    this.#client.close();
  }
}

function metadataOf(key: string | null, headers: Record<string, string>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  if (key !== null) metadata.set('x-token', key);
  return metadata;
}
