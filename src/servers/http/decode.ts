import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ByteBudget } from '../../base/cache/byte-budget.ts';
import { Failure, type FailureCode } from '../../protocol/errors.ts';

/** Splits a request target into path and query. Drops the scheme and authority, if present (RFC 9112 §3.2.2). */
export function splitUrl(url: string): { path: string; query: string } {
  const start = url.startsWith('/') ? 0 : Math.max(0, url.indexOf('/', url.indexOf('://') + 3));
  const mark = url.indexOf('?', start);
  return mark === -1
    ? { path: url.slice(start), query: '' }
    : { path: url.slice(start, mark), query: url.slice(mark + 1) };
}

/** Host and optional port; may be empty. Source: RFC 9112 §3.2, RFC 3986 §3.2.2. */
const HOST = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]{0,255}|\[[0-9A-Za-z:.%~_-]{2,64}\])(?::\d{0,5})?$/;

/** Detects heads that an intermediary may read differently (request smuggling), and compressed bodies. */
export function faultOfHead(request: IncomingMessage): FailureCode | null {
  const { headers, httpVersionMajor } = request;
  // The parser also accepts HTTP/0.9, which has no headers, and HTTP/2.0.
  if (httpVersionMajor !== 1 || !hasValidHost(request) || !hasValidTransferCoding(request))
    return 'MALFORMED_HTTP';
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  return encoding === 'identity' ? null : 'ENCODED_BODY';
}

/** Allows only `chunked`, and only in HTTP/1.1, because proxies disagree on everything else. Source: RFC 9112 §6.1. */
function hasValidTransferCoding({ headers, httpVersionMinor }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return coding === undefined || (coding.toLowerCase() === 'chunked' && httpVersionMinor > 0);
}

export const isValidHost = (host: string): boolean => HOST.test(host);

/** Requires exactly one valid Host header, which HTTP/1.0 may omit. Source: RFC 9112 §3.2. */
function hasValidHost({ rawHeaders, httpVersionMinor }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue;
    hosts++;
    if (!isValidHost(rawHeaders[i + 1] as string)) return false;
  }
  return hosts === 1 || (hosts === 0 && httpVersionMinor === 0);
}

export type ClientError = Pick<NodeJS.ErrnoException, 'code'> & { readonly rawPacket?: Buffer };

const LINE_MAX_BYTES = 2_048;

/** Returns the request target; null if the packet does not start with a request line. */
export function targetIn(packet: Buffer | undefined): string | null {
  const text = packet?.toString('latin1', 0, LINE_MAX_BYTES) ?? '';
  return /^[A-Z]{1,20} (\S+)/.exec(text)?.[1] ?? null;
}

export function codeOf({ code }: Pick<ClientError, 'code'>): FailureCode {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'REQUEST_TIMEOUT';
  return code === 'HPE_HEADER_OVERFLOW' ? 'HEADERS_TOO_LARGE' : 'MALFORMED_HTTP';
}

const JSON_TYPE = /^application\/json *(?:;|$)/i;

export const isJsonType = (contentType: string | undefined): boolean =>
  contentType === 'application/json' || (contentType !== undefined && JSON_TYPE.test(contentType));

const EMPTY = Buffer.alloc(0);

const INITIAL_CAPACITY_BYTES = 16 * 1024;

/**
 * Body in one growing buffer whose whole capacity is reserved from the budget, so that small chunks cannot
 * hold unaccounted memory. Capacity doubles as the buffer fills, so an announced length alone reserves nothing.
 */
export class GrowingBody {
  readonly #maxBytes: number;
  readonly #budget: ByteBudget;
  #buffer: Buffer = EMPTY;
  #bytes = 0;

  constructor(maxBytes: number, budget: ByteBudget) {
    this.#maxBytes = maxBytes;
    this.#budget = budget;
  }

  add(chunk: Buffer, bodyMaxBytes: number): void {
    const needed = this.#bytes + chunk.length;
    if (needed > this.#maxBytes) throw tooLarge(bodyMaxBytes);
    if (this.#bytes === 0 && needed === this.#maxBytes) {
      this.#adopt(chunk);
      return;
    }
    if (needed > this.#buffer.length) this.#grow(needed);
    this.#bytes += chunk.copy(this.#buffer, this.#bytes);
  }

  /** Takes over a body that arrives in one chunk, without copying it. */
  #adopt(body: Buffer): void {
    if (!this.#budget.tryReserve(body.length)) throw new Failure('OVERLOADED');
    this.#buffer = body;
    this.#bytes = body.length;
  }

  #grow(needed: number): void {
    const target = Math.max(needed, 2 * this.#buffer.length, INITIAL_CAPACITY_BYTES);
    const capacity = Math.min(target, this.#maxBytes);
    if (!this.#budget.tryReserve(capacity - this.#buffer.length)) throw new Failure('OVERLOADED');
    const previous = this.#buffer;
    // Do not allocate from the shared pool, which a small slice would keep alive.
    this.#buffer = Buffer.allocUnsafeSlow(capacity);
    previous.copy(this.#buffer, 0, 0, this.#bytes);
  }

  toBuffer(): Buffer {
    return this.#buffer.subarray(0, this.#bytes);
  }

  release(): void {
    this.#budget.release(this.#buffer.length);
  }
}

/** @returns null if the client disconnected first. @throws Failure BODY_TOO_LARGE, OVERLOADED */
export function readBody(
  response: ServerResponse,
  bodyMaxBytes: number,
  budget: ByteBudget,
): Promise<Buffer | null> {
  const { req: request } = response;
  const announced = Number(request.headers['content-length'] ?? bodyMaxBytes);
  if (announced > bodyMaxBytes) throw tooLarge(bodyMaxBytes);
  if (request.headers.expect !== undefined) response.writeContinue();
  return new Promise((resolve, reject) => {
    const body = new GrowingBody(announced, budget);
    const onChunk = (chunk: Buffer): void => {
      try {
        body.add(chunk, bodyMaxBytes);
      } catch (failure) {
        request.off('data', onChunk);
        request.pause();
        reject(failure);
      }
    };
    request.on('data', onChunk);
    request.on('end', () => resolve(body.toBuffer()));
    // A close before the response means that the client disconnected; later, the promise is already settled.
    response.on('close', () => {
      body.release();
      resolve(null);
    });
  });
}

const tooLarge = (bodyMaxBytes: number): Failure =>
  new Failure('BODY_TOO_LARGE', { facts: { bodyMaxBytes } });
