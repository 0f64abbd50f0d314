import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Failure } from '../../protocol/errors.ts';
import type { LimitStatus } from '../../protocol/request-handler.ts';
import { refusalHeaders } from '../http/refuse.ts';
import { hasLimits } from '../rate-limit-headers.ts';
import { commonHeaders, JOIN_MAX_BYTES } from '../rpc/encode.ts';
import { ByteText } from './byte-text.ts';
import { LimitHeaderWriter } from './limit-header-writer.ts';

/** More than the longest head has. */
const HEAD_MAX_BYTES = 4 * 1024;
const SECOND_MS = 1_000;

/** What a head begins with: status line and fields that are always the same. */
export type HeadPrefix = Buffer;

/** What a head ends with. */
type HeadSuffixes = Readonly<{ keepAlive: Buffer; close: Buffer }>;

const NOTHING = Buffer.alloc(0);
const CHUNKED = Buffer.from('transfer-encoding: chunked');
const CONTENT_LENGTH = Buffer.from('content-length: ');
/** Fields that are different each time. */
const VARIABLE_FIELDS = ['content-length', 'retry-after'];

function buildHeadPrefix(status: number, fields: readonly string[]): HeadPrefix {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n`;
  for (let i = 0; i < fields.length; i += 2) text += `${fields[i]}: ${fields[i + 1]}\r\n`;
  return Buffer.from(text, 'latin1');
}

/**
 * Writes answers as node:http would: the same fields, in one piece when they are small. What does not change is
 * prepared; what does is written into memory that the next answer uses again.
 */
export class ResponseWriter {
  readonly #keepAliveSeconds: number;
  /** By status. */
  readonly #prefixes = new Map<number, HeadPrefix>();
  readonly #refusalPrefixes = new Map<number, HeadPrefix>();
  readonly #limitHeaders = new LimitHeaderWriter();
  #text = new ByteText(HEAD_MAX_BYTES + JOIN_MAX_BYTES);
  /** Of this second; null: it is over. */
  #suffixes: HeadSuffixes | null = null;

  constructor(keepAliveTimeoutMs: number) {
    this.#keepAliveSeconds = Math.floor(keepAliveTimeoutMs / SECOND_MS);
  }

  /** Of an answer to calls. */
  prefixFor(status: number): HeadPrefix {
    const cached = this.#prefixes.get(status);
    if (cached !== undefined) return cached;
    const prefix = buildHeadPrefix(status, commonHeaders);
    this.#prefixes.set(status, prefix);
    return prefix;
  }

  /** Of the refusal of a whole request. */
  prefixForRefusal(failure: Failure): HeadPrefix {
    const { http } = failure.row;
    const cached = this.#refusalPrefixes.get(http);
    if (cached !== undefined) return cached;
    const fields = Object.entries(refusalHeaders(failure, NOTHING)).filter(
      ([name]) => !VARIABLE_FIELDS.includes(name),
    );
    const prefix = buildHeadPrefix(http, fields.flat() as string[]);
    this.#refusalPrefixes.set(http, prefix);
    return prefix;
  }

  /**
   * Hands an answer to a socket; `writableLength` says then how much of it the system has not taken yet.
   * @param closes - whether nothing follows it on the connection.
   */
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
    if (bytes <= JOIN_MAX_BYTES) this.#writeJoined(socket, pieces);
    else this.#writeCorked(socket, pieces);
  }

  /**
   * Hands over the head of an answer that is written while it comes.
   * @param bytes - how long it will be; null for one that comes in chunks.
   */
  writeStreamHead(
    socket: Socket,
    prefix: HeadPrefix,
    limits: LimitStatus,
    bytes: number | null,
    closes: boolean,
  ): void {
    this.#writeHead(prefix, limits, undefined, bytes, closes);
    const { bytes: text, length } = this.#text;
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
    if (hasLimits(limits)) this.#limitHeaders.write(text, limits);
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

  #writeJoined(socket: Socket, pieces: readonly Buffer[]): void {
    const text = this.#text;
    for (const piece of pieces) text.copy(piece);
    socket.write(text.bytes.subarray(0, text.length));
    // The system still reads from it.
    if (socket.writableLength > 0) this.#text = new ByteText(text.bytes.length);
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
