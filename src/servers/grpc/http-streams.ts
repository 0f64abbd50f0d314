import type { ServerResponse } from 'node:http';
import { ByteBudget } from '../../base/cache/byte-budget.ts';
import { PerKeySemaphore } from '../../base/concurrency/per-key-semaphore.ts';
import { TimeSlicedQueue } from '../../base/concurrency/time-sliced.ts';
import type { Logger } from '../../base/log.ts';
import { Failure } from '../../protocol/errors.ts';
import {
  decodeSubscribeDeshredRequest,
  decodeSubscribeRequest,
} from '../../protocol/geyser/decode-subscribe-request.ts';
import { InvalidProtobuf } from '../../protocol/geyser/protobuf.ts';
import type { RequestBounds } from '../../protocol/geyser/request/request-faults.ts';
import { decodeToJson, encodeFromJson } from '../../protocol/grpc/json-codec.ts';
import { GrpcError, type GrpcStatus } from '../../protocol/grpc/status.ts';
import { securityHeaders } from '../../protocol/security-headers.ts';
import type { GeyserStream, HttpStreamHandler } from '../../streams/geyser/geyser-handler.ts';
import type { GeyserSink, StreamBacklog } from '../../streams/geyser/geyser-sink.ts';
import { callerOf } from '../caller.ts';
import type { TrustedProxies } from '../client-address.ts';
import { isJsonType, readBody } from '../http/decode.ts';
import { corsHeaders, rejectRequest } from '../http/encode.ts';
import type { HttpHandler, HttpRoutes } from '../http/routes.ts';

/** Path prefix of the gRPC streams for web pages, which cannot use gRPC. */
const GRPC_HTTP_PREFIX = '/v1/grpc';

const BODY_MAX_BYTES = 65_536;
/** Each of these streams costs far more than a gRPC stream, because every message is decoded. */
const STREAMS_MAX = 100;
const CUSTOMER_STREAMS_MAX = 8;
const QUEUE_MAX_BYTES = 4 * 1024 * 1024;
/** Time for decoding before the next stream gets a turn, in milliseconds. */
const TURN_MS = 1;
/** Interval of empty lines, which show that the stream is open. */
const IDLE_MS = 15_000;

const streamMethods = {
  Subscribe: {
    requestType: '.geyser.SubscribeRequest',
    updateType: '.geyser.SubscribeUpdate',
    decode: decodeSubscribeRequest,
  },
  SubscribeDeshred: {
    requestType: '.geyser.SubscribeDeshredRequest',
    updateType: '.geyser.SubscribeUpdateDeshred',
    decode: decodeSubscribeDeshredRequest,
  },
} as const;

type Rpc = keyof typeof streamMethods;

function toStreamError(thrown: unknown): Pick<GrpcStatus, 'message'> & { code: string } {
  if (thrown instanceof Failure) return { code: thrown.code, message: thrown.text };
  if (thrown instanceof GrpcError) return thrown;
  return { code: 'INVALID_ARGUMENT', message: 'The request is not valid.' };
}

/** Writes the messages of one stream as lines of JSON. The last line is an `error` unless the client closed it. */
class JsonStream implements GeyserSink {
  readonly #response: ServerResponse;
  readonly #update: string;
  readonly #tasks: TimeSlicedQueue;
  readonly #log: Logger;
  #isTaskQueued = false;
  #queue: Buffer[] = [];
  #waitingBytes = 0;
  #ending: string | null = null;
  stream: GeyserStream | null = null;

  /** @param tasks - of all streams, so that many streams do not block other work. */
  constructor(response: ServerResponse, rpc: Rpc, tasks: TimeSlicedQueue, log: Logger) {
    this.#response = response;
    this.#update = streamMethods[rpc].updateType;
    this.#tasks = tasks;
    this.#log = log;
    response.on('drain', () => this.#schedule());
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  get waitingMessages(): number {
    return this.#queue.length;
  }

  push(names: Uint8Array, tail: Uint8Array): void {
    if (this.#ending !== null) return;
    const message = Buffer.concat([names, tail]);
    this.#queue.push(message);
    this.#waitingBytes += message.length;
    if (this.#waitingBytes > QUEUE_MAX_BYTES)
      this.lag({ messages: this.#queue.length, bytes: this.#waitingBytes });
    else this.#schedule();
  }

  end(status: GrpcStatus): void {
    this.fail(new GrpcError(status.code, status.message));
  }

  lag(backlog: StreamBacklog): void {
    this.stream?.recordLagged?.();
    this.#queue = [];
    this.#waitingBytes = 0;
    this.fail(new Failure('LAGGING', { facts: { ...backlog } }));
  }

  /** Ends the stream after the queued messages. */
  fail(thrown: unknown): void {
    if (!isExpected(thrown)) this.#log.error({ err: thrown }, 'gRPC stream over HTTP failed unexpectedly');
    const { code, message } = toStreamError(isExpected(thrown) ? thrown : new Failure('INTERNAL'));
    this.#ending ??= `${JSON.stringify({ error: { code, message } })}\n`;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isTaskQueued) return;
    this.#isTaskQueued = true;
    this.#tasks.enqueue(() => {
      this.#isTaskQueued = false;
      try {
        this.#flush();
      } catch (thrown) {
        this.fail(thrown);
      }
    });
  }

  /** Updates arrive undecoded, so a node's malformed message is noticed only here. */
  #write(message: Buffer): void {
    try {
      this.#response.write(`${JSON.stringify(decodeToJson(this.#update, message))}\n`);
    } catch (error) {
      if (!(error instanceof InvalidProtobuf)) throw error;
      this.fail(new Failure('UPSTREAM_UNAVAILABLE'));
    }
  }

  /** Writes messages for one turn, but at least one. */
  #flush(): void {
    const endsAt = performance.now() + TURN_MS;
    const response = this.#response;
    if (response.destroyed || response.writableEnded) return;
    if (this.#queue.length > 0 && response.writableNeedDrain) return;
    let messages = 0;
    let bytes = 0;
    while (messages < this.#queue.length && !response.writableNeedDrain) {
      const message = this.#queue[messages] as Buffer;
      messages += 1;
      bytes += message.length;
      this.#write(message);
      if (performance.now() >= endsAt) break;
    }
    this.#queue.splice(0, messages);
    this.#waitingBytes -= bytes;
    if (messages > 0) this.stream?.recordSent(messages, bytes);
    if (this.#queue.length > 0) this.#schedule();
    else if (this.#ending !== null) response.end(this.#ending);
  }
}

/** @throws GrpcError */
function requestBytes(rpc: Rpc, body: Buffer): Uint8Array {
  try {
    return encodeFromJson(streamMethods[rpc].requestType, JSON.parse(body.toString()));
  } catch (thrown) {
    throw thrown instanceof GrpcError ? thrown : new GrpcError('INVALID_ARGUMENT', 'The body must be JSON.');
  }
}

/** @throws Failure, GrpcError, InvalidProtobuf */
const decodeRequest = (rpc: Rpc, bytes: Uint8Array, bounds: RequestBounds) =>
  streamMethods[rpc].decode(bytes, bounds);

const isExpected = (thrown: unknown): boolean =>
  thrown instanceof Failure || thrown instanceof GrpcError || thrown instanceof InvalidProtobuf;

/** Sends the headers, and empty lines until the response ends. */
function startResponse(response: ServerResponse): void {
  const heartbeat = setInterval(() => {
    if (!response.writableEnded) response.write('\n');
  }, IDLE_MS).unref();
  response.once('close', () => clearInterval(heartbeat));
  response.writeHead(200, {
    ...corsHeaders,
    ...securityHeaders.state,
    'content-type': 'application/x-ndjson; charset=utf-8',
    'x-accel-buffering': 'no',
  });
  response.flushHeaders();
}

/**
 * Serves the gRPC streams to web pages under `POST /v1/grpc/geyser.Geyser/<method>`: the body is the request, and each
 * line of the response is a message, both as JSON. Keys, limits and metering are those of gRPC.
 */
export function httpStreams(handler: HttpStreamHandler, proxies: TrustedProxies, log: Logger) {
  const open = new Set<JsonStream>();
  const tasks = new TimeSlicedQueue();
  /** Admitted requests whose response is not complete. */
  const permits = new PerKeySemaphore({
    ...{ permitsMax: STREAMS_MAX, keyPermitsMax: CUSTOMER_STREAMS_MAX },
    ...{ waitingMax: 0, keyWaitingMax: 0, waitMs: null },
  });
  const budget = new ByteBudget(() => STREAMS_MAX * BODY_MAX_BYTES);

  async function serve(response: ServerResponse, query: string, rpc: Rpc): Promise<void> {
    const { req: request } = response;
    if (!isJsonType(request.headers['content-type'])) throw new Failure('UNSUPPORTED_MEDIA_TYPE');
    const caller = callerOf(request, request.socket, query, proxies);
    const customerId = handler.admitStream(caller, rpc);
    if (!(await permits.acquire(customerId))) {
      if (permits.inUse >= STREAMS_MAX) throw new Failure('OVERLOADED');
      throw new Failure('HTTP_STREAM_LIMIT', { facts: { streamsMax: CUSTOMER_STREAMS_MAX } });
    }
    response.once('close', () => permits.release(customerId));
    const body = await readBody(response, BODY_MAX_BYTES, budget);
    if (body === null) return;
    const sink = new JsonStream(response, rpc, tasks, log);
    const stream = handler.open(caller, rpc, sink, (failure) => sink.fail(failure));
    sink.stream = stream;
    open.add(sink);
    response.once('close', () => {
      open.delete(sink);
      stream.close();
    });
    startResponse(response);
    try {
      const bytes = requestBytes(rpc, body);
      stream.recordReceived(1, bytes.length);
      await stream.request(decodeRequest(rpc, bytes, stream.bounds));
    } catch (thrown) {
      sink.fail(thrown);
    }
  }

  const handlerOf =
    (rpc: Rpc): HttpHandler =>
    async (_request, response, query) => {
      try {
        await serve(response, query, rpc);
      } catch (thrown) {
        if (thrown instanceof Failure) rejectRequest(response, thrown);
        else throw thrown;
      }
    };
  const routes: HttpRoutes = new Map(
    (Object.keys(streamMethods) as Rpc[]).map((rpc) => [
      `${GRPC_HTTP_PREFIX}/geyser.Geyser/${rpc}`,
      new Map([['POST', handlerOf(rpc)]]),
    ]),
  );
  /** Ends all streams, which could outlast a drain. */
  const end = (): void => {
    for (const sink of open) sink.fail(new Failure('DRAINING'));
  };
  return { routes, end };
}
