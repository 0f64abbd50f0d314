import type { Socket } from 'node:net';
import type { Caller, ClientInfo } from '../../protocol/request-handler.ts';
import { credentialIn, networkIn, sessionOf } from '../caller.ts';
import type { TrustedProxies } from '../client-address.ts';
import { isValidHost } from '../http/decode.ts';
import type { FastHead, Span } from './decode.ts';

const NONE = Buffer.alloc(0);

/**
 * Caller of the requests on one connection. Consecutive requests mostly carry the same headers; then `read` returns the
 * same object.
 */
export class CallerReader {
  readonly #socket: Socket;
  readonly #proxies: TrustedProxies;
  readonly #credentials: CredentialCache;
  readonly #query = new LastValueCache();
  readonly #origin = new LastValueCache();
  readonly #forwarded = new LastValueCache();
  readonly #session = new LastValueCache();
  readonly #addressHeaders: { origin: string | undefined; 'x-forwarded-for': string | undefined } = {
    origin: undefined,
    'x-forwarded-for': undefined,
  };
  #lastAuthorization: CachedAuthorization | null = null;
  #lastQuery = '';
  #caller: Caller;

  constructor(socket: Socket, proxies: TrustedProxies, credentials: CredentialCache) {
    this.#socket = socket;
    this.#credentials = credentials;
    this.#proxies = proxies;
    const client = proxies.clientOf(socket, this.#addressHeaders);
    this.#caller = { credential: null, client, traceparent: null, session: null };
  }

  read(head: FastHead, bytes: Buffer): Caller {
    const { isPresent, start, end } = head.authorization;
    const authorization = isPresent ? this.#credentials.of(bytes, start, end) : null;
    const query = textOf(this.#query, head.query, bytes) ?? '';
    const isSame = authorization === this.#lastAuthorization && query === this.#lastQuery;
    const credential = isSame
      ? this.#caller.credential
      : (authorization?.credential ?? credentialIn(undefined, query));
    const network = isSame ? this.#caller.network : networkIn(query);
    this.#lastAuthorization = authorization;
    this.#lastQuery = query;
    const client = this.#clientOf(head, bytes);
    const { traceparent: trace } = head;
    const traceparent = trace.isPresent ? bytes.toString('latin1', trace.start, trace.end) : null;
    const session = sessionOf(textOf(this.#session, head.session, bytes));
    const last = this.#caller;
    if (isSame && client === last.client && traceparent === last.traceparent && session === last.session)
      return last;
    this.#caller = { credential, client, traceparent, session, network };
    return this.#caller;
  }

  #clientOf(head: FastHead, bytes: Buffer): ClientInfo {
    const addressHeaders = this.#addressHeaders;
    addressHeaders.origin = textOf(this.#origin, head.origin, bytes);
    addressHeaders['x-forwarded-for'] = textOf(this.#forwarded, head.forwarded, bytes);
    return this.#proxies.clientOf(this.#socket, addressHeaders);
  }
}

const textOf = (last: LastValueCache, { isPresent, start, end }: Span, bytes: Buffer): string | undefined =>
  isPresent ? last.of(bytes, start, end) : undefined;

/** A loop: a native comparison of so few bytes costs more. */
function isSame(cached: Buffer, length: number, bytes: Buffer, start: number): boolean {
  for (let i = 0; i < length; i++) if (bytes[start + i] !== cached[i]) return false;
  return true;
}

/** Longest text that a LastValueCache holds; it lives as long as its connection. */
const LAST_VALUE_MAX_BYTES = 512;

/** Caches the latin1 text of the last bytes, so that equal bytes return the same string. */
export class LastValueCache {
  #bytes: Buffer = NONE;
  #length = 0;
  #text = '';

  of(bytes: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length === this.#length && isSame(this.#bytes, length, bytes, start)) return this.#text;
    const text = bytes.toString('latin1', start, end);
    if (length <= LAST_VALUE_MAX_BYTES) this.#store(bytes, start, length, text);
    return text;
  }

  #store(bytes: Buffer, start: number, length: number, text: string): void {
    if (length > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(length);
    bytes.copy(this.#bytes, 0, start, start + length);
    this.#length = length;
    this.#text = text;
  }
}

/** Validates Host headers; the last valid one is not checked again. */
export class HostCheck {
  readonly #last = new LastValueCache();
  #lastValid: string | null = null;

  isValid({ host }: FastHead, bytes: Buffer): boolean {
    const text = this.#last.of(bytes, host.start, host.end);
    if (text === this.#lastValid) return true;
    if (!isValidHost(text)) return false;
    this.#lastValid = text;
    return true;
  }
}

const CREDENTIALS_MAX = 4_096;
const CREDENTIAL_MAX_BYTES = 256;

export type CachedAuthorization = Readonly<{ bytes: Buffer; credential: string | null }>;

/** The last characters of a key are its checksum, hence evenly distributed. */
function indexOf(bytes: Buffer, start: number, end: number): number {
  let index = 0;
  for (let at = Math.max(start, end - 4); at < end; at++) index = index * 31 + (bytes[at] as number);
  return index & (CREDENTIALS_MAX - 1);
}

/** A copy of its own: V8 compares a slice of another string more slowly. */
const flatten = (text: string | null): string | null =>
  text === null ? null : Buffer.from(text, 'latin1').toString('latin1');

/**
 * Direct-mapped cache of recent credentials by the bytes of their `Authorization` header. A hit returns the same string,
 * which later comparisons match by identity. The cache does not validate credentials.
 */
export class CredentialCache {
  readonly #entries: (CachedAuthorization | null)[] = new Array<null>(CREDENTIALS_MAX).fill(null);

  of(bytes: Buffer, start: number, end: number): CachedAuthorization {
    const index = indexOf(bytes, start, end);
    const cached = this.#entries[index] ?? null;
    if (
      cached !== null &&
      cached.bytes.length === end - start &&
      isSame(cached.bytes, end - start, bytes, start)
    )
      return cached;
    const copy = Buffer.allocUnsafeSlow(end - start);
    bytes.copy(copy, 0, start, end);
    const credential = flatten(credentialIn(copy.toString('latin1'), ''));
    const entry: CachedAuthorization = { bytes: copy, credential };
    if (copy.length <= CREDENTIAL_MAX_BYTES) this.#entries[index] = entry;
    return entry;
  }
}
