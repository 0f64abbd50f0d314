import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Failure } from '../../protocol/errors.ts';
import type { LimitFacts } from '../../protocol/serve.ts';
import { refusalHeaders } from '../http-refuse.ts';
import { showsLimits } from '../limit-fields.ts';
import { commonHeaders, JOIN_MAX_BYTES } from '../rpc/encode.ts';
import { ByteText } from './byte-text.ts';
import { LimitLines } from './limit-lines.ts';

/** More than the longest head has. */
const HEAD_MAX_BYTES = 4 * 1024;
const SECOND_MS = 1_000;

/** What a head begins with: status line and fields that are always the same. */
export type HeadBegin = Buffer;

/** What a head ends with. */
type Ends = Readonly<{ kept: Buffer; closed: Buffer }>;

const NOTHING = Buffer.alloc(0);
const CHUNKED = Buffer.from('transfer-encoding: chunked');
const CONTENT_LENGTH = Buffer.from('content-length: ');
/** Fields that are different each time. */
const CHANGING = ['content-length', 'retry-after'];

function headBegin(status: number, fields: readonly string[]): HeadBegin {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n`;
  for (let i = 0; i < fields.length; i += 2) text += `${fields[i]}: ${fields[i + 1]}\r\n`;
  return Buffer.from(text, 'latin1');
}

/**
 * Writes answers as node:http would: the same fields, in one piece when they are small. What does not change is
 * prepared; what does is written into memory that the next answer uses again.
 */
export class AnswerWriter {
  readonly #keepAliveSeconds: number;
  /** By status. */
  readonly #begins = new Map<number, HeadBegin>();
  readonly #refusals = new Map<number, HeadBegin>();
  readonly #limits = new LimitLines();
  #text = new ByteText(HEAD_MAX_BYTES + JOIN_MAX_BYTES);
  /** Of this second; null: it is over. */
  #ends: Ends | null = null;

  constructor(keepAliveTimeoutMs: number) {
    this.#keepAliveSeconds = Math.floor(keepAliveTimeoutMs / SECOND_MS);
  }

  /** Of an answer to calls. */
  beginOf(status: number): HeadBegin {
    const known = this.#begins.get(status);
    if (known !== undefined) return known;
    const begin = headBegin(status, commonHeaders);
    this.#begins.set(status, begin);
    return begin;
  }

  /** Of the refusal of a whole request. */
  beginOfRefusal(failure: Failure): HeadBegin {
    const { http } = failure.row;
    const known = this.#refusals.get(http);
    if (known !== undefined) return known;
    const fields = Object.entries(refusalHeaders(failure, NOTHING)).filter(
      ([name]) => !CHANGING.includes(name),
    );
    const begin = headBegin(http, fields.flat() as string[]);
    this.#refusals.set(http, begin);
    return begin;
  }

  /**
   * Hands an answer to a socket; `writableLength` says then how much of it the system has not taken yet.
   * @param closes - whether nothing follows it on the connection.
   */
  write(
    socket: Socket,
    begin: HeadBegin,
    limits: LimitFacts,
    retryAfter: number | undefined,
    pieces: readonly Buffer[],
    closes: boolean,
  ): void {
    let bytes = 0;
    for (const piece of pieces) bytes += piece.length;
    this.#writeHead(begin, limits, retryAfter, bytes, closes);
    if (bytes <= JOIN_MAX_BYTES) this.#writeJoined(socket, pieces);
    else this.#writeInPieces(socket, pieces);
  }

  /**
   * Hands over the head of an answer that is written while it comes.
   * @param bytes - how long it will be; null for one that comes in chunks.
   */
  writeLongHead(
    socket: Socket,
    begin: HeadBegin,
    limits: LimitFacts,
    bytes: number | null,
    closes: boolean,
  ): void {
    this.#writeHead(begin, limits, undefined, bytes, closes);
    const { bytes: text, length } = this.#text;
    socket.write(Buffer.from(text.subarray(0, length)));
  }

  #writeHead(
    begin: HeadBegin,
    limits: LimitFacts,
    retryAfter: number | undefined,
    bytes: number | null,
    closes: boolean,
  ): void {
    const text = this.#text;
    text.length = 0;
    text.copy(begin);
    if (showsLimits(limits)) this.#limits.write(text, limits);
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
    const { kept, closed } = this.#ends ?? this.#renewEnds();
    text.copy(closes ? closed : kept);
  }

  #writeJoined(socket: Socket, pieces: readonly Buffer[]): void {
    const text = this.#text;
    for (const piece of pieces) text.copy(piece);
    socket.write(text.bytes.subarray(0, text.length));
    // The system still reads from it.
    if (socket.writableLength > 0) this.#text = new ByteText(text.bytes.length);
  }

  #writeInPieces(socket: Socket, pieces: readonly Buffer[]): void {
    const { bytes, length } = this.#text;
    socket.cork();
    socket.write(Buffer.from(bytes.subarray(0, length)));
    for (const piece of pieces) socket.write(piece);
    socket.uncork();
  }

  #renewEnds(): Ends {
    const now = new Date();
    const date = `\r\nDate: ${now.toUTCString()}\r\n`;
    this.#ends = {
      kept: Buffer.from(
        `${date}Connection: keep-alive\r\nKeep-Alive: timeout=${this.#keepAliveSeconds}\r\n\r\n`,
      ),
      closed: Buffer.from(`${date}Connection: close\r\n\r\n`),
    };
    setTimeout(() => (this.#ends = null), SECOND_MS - now.getMilliseconds()).unref();
    return this.#ends;
  }
}
