import type { Logger } from '../../base/log.ts';
import { InvalidProtobuf } from '../../protocol/geyser/protobuf.ts';
import type { GrpcStatus } from '../../protocol/grpc/status.ts';
import { revealsOneOf, secretsOf } from '../secrets.ts';
import { GrpcStream, type GrpcStreamListener, type GrpcStreamOptions } from './grpc-stream.ts';

export type MonitoredStreamOptions<Message> = GrpcStreamOptions &
  Readonly<{
    /** The stream ends with UNAVAILABLE after this long without progress. */
    stallMs: number;
    /** @throws InvalidProtobuf for a malformed message, which is skipped. */
    decode: (bytes: Buffer) => Message;
    log: Logger;
    logFields: Readonly<Record<string, string>>;
  }>;

const CHECKS_PER_STALL = 10;
const REASON_CHARS_MAX = 200;

/** Decodes messages, skips malformed ones, and ends when the server stalls. */
export class MonitoredStream<Message> extends GrpcStream {
  readonly #monitored: MonitoredStreamOptions<Message>;
  readonly #onEnd: (status: GrpcStatus) => void;
  readonly #stallTimer: NodeJS.Timeout;
  #progressAt = performance.now();
  #hasWarnedMalformed = false;

  constructor(options: MonitoredStreamOptions<Message>, listener: GrpcStreamListener<Message>) {
    super(options, {
      onOpen: () => listener.onOpen(),
      onMessage: (bytes) => {
        let message: Message;
        try {
          message = this.#monitored.decode(bytes);
        } catch (error) {
          if (!(error instanceof InvalidProtobuf)) throw error;
          this.#warnMalformed(error.message);
          return;
        }
        listener.onMessage(message);
      },
      onEnd: (status) => this.#handleEnd(status),
    });
    this.#monitored = options;
    this.#onEnd = (status) => listener.onEnd(status);
    this.#stallTimer = setInterval(() => {
      if (performance.now() - this.#progressAt < this.#monitored.stallMs) return;
      super.close();
      this.#handleEnd({ code: 'UNAVAILABLE', message: 'no new slot for longer than stall_ms' });
    }, options.stallMs / CHECKS_PER_STALL);
  }

  recordProgress(): void {
    this.#progressAt = performance.now();
  }

  override close(): void {
    clearInterval(this.#stallTimer);
    super.close();
  }

  #warnMalformed(reason: string): void {
    if (this.#hasWarnedMalformed) return;
    this.#hasWarnedMalformed = true;
    const { log, logFields, method } = this.#monitored;
    log.warn({ ...logFields, method, reason }, 'Skipped a malformed gRPC message');
  }

  #handleEnd(status: GrpcStatus): void {
    clearInterval(this.#stallTimer);
    const { log, logFields, method, url, headers } = this.#monitored;
    const reason = redactMessage(status.message, url, headers);
    log.warn({ ...logFields, method, code: status.code, reason }, 'Upstream gRPC stream ended');
    this.#onEnd(status);
  }
}

/** Returns a server's message for the log, or a placeholder if it contains the server's host or a credential. */
export function redactMessage(
  message: string,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): string {
  const isSecret = revealsOneOf(secretsOf(new URL(url), headers), Buffer.from(message));
  return isSecret ? '[redacted]' : message.slice(0, REASON_CHARS_MAX);
}
