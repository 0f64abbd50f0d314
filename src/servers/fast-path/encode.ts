import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { copyTo, digitCount, writeDigits } from '../../base/text/short-bytes.ts';
import { bufferPool } from '../../http/buffer-pool.ts';
import type { Failure } from '../../protocol/errors.ts';
import type { LimitStatus, RateLimitState } from '../../protocol/request-handler.ts';
import type { StreamedResponse } from '../../protocol/streamed-response.ts';
import { type ContentCoding, codingHeaders } from '../compression.ts';
import { rejectionHeaders } from '../http/encode.ts';
import { rateLimitHeaderValues } from '../rate-limit-headers.ts';
import { commonHeaders, JOIN_MAX_BYTES } from '../rpc/encode.ts';

/** Numbers above 2^31 - 1 are written in two parts; the low part has this many digits. */
const LOW_DIGITS = 9;
const LOW_BOUND = 10 ** LOW_DIGITS;

/** Latin-1 text in a reused byte buffer. The caller must ensure that the text fits. */
export class ByteText {
  readonly bytes: Buffer;
  length = 0;

  constructor(bytesMax: number) {
    this.bytes = Buffer.allocUnsafeSlow(bytesMax);
  }

  text(part: string): void {
    const { bytes } = this;
    let at = this.length;
    for (let i = 0; i < part.length; i++) bytes[at++] = part.charCodeAt(i);
    this.length = at;
  }

  number(value: number): void {
    const whole = value | 0;
    if (whole === value && whole >= 0) {
      this.length = writeDigits(this.bytes, this.length, whole, digitCount(whole));
    } else if (value > 0 && Number.isSafeInteger(value)) {
      const high = Math.floor(value / LOW_BOUND);
      this.number(high);
      this.length = writeDigits(this.bytes, this.length, value - high * LOW_BOUND, LOW_DIGITS);
    } else {
      this.text(String(value));
    }
  }

  copy(piece: Buffer): void {
    this.length = copyTo(this.bytes, this.length, piece);
  }
}

const NONE = -1;
const CACHED_POLICIES_MAX = 8;
const LINE_END = Buffer.from('\r\n');

/** Limits of a plan. `line`: the RateLimit-Policy header and the name of the RateLimit header. */
type Policy = Readonly<{
  rate: number;
  rateWindow: number;
  credits: number;
  creditsWindow: number;
  line: Buffer;
}>;

/** Writes the rate limit headers. Caches the RateLimit-Policy line, which is the same for all calls under a plan. */
export class LimitHeaderWriter {
  readonly #policies: (Policy | undefined)[] = new Array<undefined>(CACHED_POLICIES_MAX).fill(undefined);
  #next = 0;

  write(text: ByteText, limits: LimitStatus): void {
    const { rateLimit, quota = null } = limits;
    text.copy(this.#lineOf(limits));
    if (rateLimit !== null) this.#writeStatus(text, 'rpc', rateLimit);
    if (rateLimit !== null && quota !== null) text.text(', ');
    if (quota !== null) this.#writeStatus(text, 'credits', quota);
    text.copy(LINE_END);
  }

  #writeStatus(text: ByteText, name: string, { remaining, resetSeconds }: RateLimitState): void {
    text.text('"');
    text.text(name);
    text.text('";r=');
    text.number(remaining);
    text.text(';t=');
    text.number(resetSeconds);
  }

  #lineOf(limits: LimitStatus): Buffer {
    const { rateLimit, quota } = limits;
    const rate = rateLimit === null ? NONE : rateLimit.limit;
    const rateWindow = rateLimit === null ? NONE : rateLimit.windowSeconds;
    const credits = quota == null ? NONE : quota.limit;
    const creditsWindow = quota == null ? NONE : quota.windowSeconds;
    for (const cached of this.#policies) {
      if (cached === undefined) break;
      if (cached.rate !== rate || cached.rateWindow !== rateWindow) continue;
      if (cached.credits === credits && cached.creditsWindow === creditsWindow) return cached.line;
    }
    const line = Buffer.from(
      `ratelimit-policy: ${rateLimitHeaderValues('rpc', limits)?.[0]}\r\nratelimit: `,
      'latin1',
    );
    this.#policies[this.#next] = { rate, rateWindow, credits, creditsWindow, line };
    this.#next = (this.#next + 1) % CACHED_POLICIES_MAX;
    return line;
  }
}

const HEAD_MAX_BYTES = 4 * 1024;
const SECOND_MS = 1_000;

export type HeadPrefix = Buffer;

type HeadSuffixes = Readonly<{ keepAlive: Buffer; close: Buffer }>;

const NOTHING = Buffer.alloc(0);
const CHUNKED = Buffer.from('transfer-encoding: chunked');
const CONTENT_LENGTH = Buffer.from('content-length: ');
const VARIABLE_FIELDS = ['content-length', 'retry-after'];

function buildHeadPrefix(status: number, fields: readonly string[]): HeadPrefix {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n`;
  for (let i = 0; i < fields.length; i += 2) text += `${fields[i]}: ${fields[i + 1]}\r\n`;
  return Buffer.from(text, 'latin1');
}

/** Writes responses with the same headers as node:http. Small responses are sent in one write from a reused buffer. */
export class ResponseWriter {
  readonly #keepAliveSeconds: number;
  readonly #prefixes = new Map<number, HeadPrefix>();
  readonly #rejectionPrefixes = new Map<number, HeadPrefix>();
  readonly #limitHeaders = new LimitHeaderWriter();
  #text = new ByteText(HEAD_MAX_BYTES + JOIN_MAX_BYTES);
  /** Last lines of the head, with the date and the connection headers; null once the current second is over. */
  #suffixes: HeadSuffixes | null = null;

  constructor(keepAliveTimeoutMs: number) {
    this.#keepAliveSeconds = Math.floor(keepAliveTimeoutMs / SECOND_MS);
  }

  /** @param failure - null for a result. */
  prefixFor(failure: Failure | null): HeadPrefix {
    const status = failure === null ? 200 : failure.row.http;
    const cached = this.#prefixes.get(status);
    if (cached !== undefined) return cached;
    const prefix = buildHeadPrefix(status, commonHeaders);
    this.#prefixes.set(status, prefix);
    return prefix;
  }

  prefixForRejection(failure: Failure): HeadPrefix {
    const { http } = failure.row;
    const cached = this.#rejectionPrefixes.get(http);
    if (cached !== undefined) return cached;
    const fields = Object.entries(rejectionHeaders(failure, NOTHING)).filter(
      ([name]) => !VARIABLE_FIELDS.includes(name),
    );
    const prefix = buildHeadPrefix(http, fields.flat() as string[]);
    this.#rejectionPrefixes.set(http, prefix);
    return prefix;
  }

  /** After this call, `socket.writableLength` is the number of bytes that the kernel has not accepted. */
  write(
    socket: Socket,
    prefix: HeadPrefix,
    limits: LimitStatus,
    retryAfter: number | undefined,
    pieces: readonly Buffer[],
    closes: boolean,
  ): void {
    let bytes = 0;
    for (const piece of pieces) bytes += piece.length;
    this.#writeHead(prefix, limits, retryAfter, bytes, closes);
    if (bytes > JOIN_MAX_BYTES) {
      this.#writeCorked(socket, pieces);
      return;
    }
    const text = this.#text;
    for (const piece of pieces) text.copy(piece);
    socket.write(text.bytes.subarray(0, text.length));
    // A pending write still reads the buffer, so allocate a new buffer.
    if (socket.writableLength > 0) this.#text = new ByteText(text.bytes.length);
  }

  writeStreamHead(
    socket: Socket,
    limits: LimitStatus,
    bytes: number | null,
    closes: boolean,
    coding: ContentCoding | null,
  ): void {
    const prefix =
      coding === null
        ? this.prefixFor(null)
        : buildHeadPrefix(200, [...commonHeaders, ...Object.entries(codingHeaders(coding)).flat()]);
    this.#writeHead(prefix, limits, undefined, bytes, closes);
    const { bytes: text, length } = this.#text;
    // Copy the head, because the buffer is reused.
    socket.write(Buffer.from(text.subarray(0, length)));
  }

  #writeHead(
    prefix: HeadPrefix,
    limits: LimitStatus,
    retryAfter: number | undefined,
    bytes: number | null,
    closes: boolean,
  ): void {
    const text = this.#text;
    text.length = 0;
    text.copy(prefix);
    if (limits.rateLimit !== null || limits.quota != null) this.#limitHeaders.write(text, limits);
    if (retryAfter !== undefined) {
      text.text('retry-after: ');
      text.number(retryAfter);
      text.text('\r\n');
    }
    if (bytes === null) {
      text.copy(CHUNKED);
    } else {
      text.copy(CONTENT_LENGTH);
      text.number(bytes);
    }
    const { keepAlive, close } = this.#suffixes ?? this.#refreshSuffixes();
    text.copy(closes ? close : keepAlive);
  }

  #writeCorked(socket: Socket, pieces: readonly Buffer[]): void {
    const { bytes, length } = this.#text;
    socket.cork();
    socket.write(Buffer.from(bytes.subarray(0, length)));
    for (const piece of pieces) socket.write(piece);
    socket.uncork();
  }

  #refreshSuffixes(): HeadSuffixes {
    const now = new Date();
    const date = `\r\nDate: ${now.toUTCString()}\r\n`;
    this.#suffixes = {
      keepAlive: Buffer.from(
        `${date}Connection: keep-alive\r\nKeep-Alive: timeout=${this.#keepAliveSeconds}\r\n\r\n`,
      ),
      close: Buffer.from(`${date}Connection: close\r\n\r\n`),
    };
    setTimeout(() => (this.#suffixes = null), SECOND_MS - now.getMilliseconds()).unref();
    return this.#suffixes;
  }
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** Writes a streamed result, in chunks if its length is unknown. An error closes the connection. */
export function writeStream(
  source: StreamedResponse,
  socket: Socket,
  prefix: Buffer,
  suffix: Buffer,
  onDone: () => void,
): void {
  /** Buffers that a pending write may still read. */
  const unreleased: Buffer[] = [];
  const releaseWritten = (): void => {
    for (const piece of unreleased) bufferPool.release(piece);
    unreleased.length = 0;
  };
  const write = (bytes: Buffer): boolean => {
    if (source.bytes !== null) return socket.write(bytes);
    // An empty chunk would end the body.
    if (bytes.length === 0) return true;
    socket.cork();
    socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1');
    socket.write(bytes);
    const canContinue = socket.write(LINE_END);
    socket.uncork();
    return canContinue;
  };
  const onDrain = (): void => {
    if (socket.writableLength === 0) releaseWritten();
    source.resume();
  };
  write(prefix);
  socket.on('drain', onDrain);
  source.pipeTo({
    onData(bytes) {
      const canContinue = write(bytes);
      unreleased.push(bytes);
      // The kernel usually accepts a write at once, even if `write` returned false.
      if (socket.writableLength === 0) releaseWritten();
      else if (!canContinue) source.pause();
    },
    onEnd(last) {
      socket.off('drain', onDrain);
      unreleased.push(last);
      socket.cork();
      write(last);
      write(suffix);
      const isChunked = source.bytes === null;
      // An empty write only calls its callback.
      socket.write(isChunked ? LAST_CHUNK : NOTHING, (error) => {
        // After a failed write, the kernel may still read the buffers.
        if (error == null) releaseWritten();
      });
      socket.uncork();
      onDone();
    },
    onError: () => void socket.destroy(),
  });
}
