import type { Socket } from 'node:net';
import type { Caller } from '../../protocol/request-handler.ts';
import { credentialIn, networkIn, sessionOf } from '../caller.ts';
import type { TrustedProxies } from '../client-address.ts';
import type { FastHead } from './decode.ts';

const NONE = Buffer.alloc(0);

/** Reads the caller from request headers. `read` returns the same object until the headers change. */
export class CallerReader {
  readonly #socket: Socket;
  readonly #proxies: TrustedProxies;
  readonly #credentials: CredentialCache;
  readonly #query = new LastValueCache();
  readonly #origin = new LastValueCache();
  readonly #forwarded = new LastValueCache();
  readonly #session = new LastValueCache();
  readonly #addressHeaders = { origin: '', 'x-forwarded-for': '' };
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
    const { authorization: key, query: queryAt, origin, forwarded, session: sessionAt, traceparent } = head;
    const authorization = key.isPresent ? this.#credentials.of(bytes, key.start, key.end) : null;
    const query = queryAt.isPresent ? this.#query.of(bytes, queryAt.start, queryAt.end) : '';
    const last = this.#caller;
    const isSame = authorization === this.#lastAuthorization && query === this.#lastQuery;
    this.#lastAuthorization = authorization;
    this.#lastQuery = query;
    const addressHeaders = this.#addressHeaders;
    addressHeaders.origin = origin.isPresent ? this.#origin.of(bytes, origin.start, origin.end) : '';
    addressHeaders['x-forwarded-for'] = forwarded.isPresent
      ? this.#forwarded.of(bytes, forwarded.start, forwarded.end)
      : '';
    const client = this.#proxies.clientOf(this.#socket, addressHeaders);
    const trace = traceparent.isPresent ? bytes.toString('latin1', traceparent.start, traceparent.end) : null;
    const session = sessionAt.isPresent
      ? sessionOf(this.#session.of(bytes, sessionAt.start, sessionAt.end))
      : null;
    if (isSame && client === last.client && trace === last.traceparent && session === last.session)
      return last;
    const credential = isSame
      ? last.credential
      : (authorization?.credential ?? credentialIn(undefined, query));
    const network = isSame ? last.network : networkIn(query);
    this.#caller = { credential, client, traceparent: trace, session, network };
    return this.#caller;
  }
}

/** Uses a loop, because a native comparison costs more for so few bytes. */
function isSame(cached: Buffer, length: number, bytes: Buffer, start: number): boolean {
  for (let i = 0; i < length; i++) if (bytes[start + i] !== cached[i]) return false;
  return true;
}

/** Longer texts are not cached, because they would stay in memory as long as the connection. */
const LAST_VALUE_MAX_BYTES = 512;

/** Caches the latin1 text of the most recent bytes, so that equal bytes return the same string. */
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

const CREDENTIALS_MAX = 4_096;
const CREDENTIAL_MAX_BYTES = 256;

export type CachedAuthorization = Readonly<{ bytes: Buffer; credential: string | null }>;

/** Copies the text, because V8 compares a slice of another string more slowly. */
const flatten = (text: string | null): string | null =>
  text === null ? null : Buffer.from(text, 'latin1').toString('latin1');

/**
 * Direct-mapped cache of recent credentials, keyed by the bytes of the `Authorization` header. All hits for
 * a credential return the same string, so that comparing it is fast. Credentials are not validated.
 */
export class CredentialCache {
  readonly #entries: (CachedAuthorization | null)[] = new Array<null>(CREDENTIALS_MAX).fill(null);

  of(bytes: Buffer, start: number, end: number): CachedAuthorization {
    // The last characters of a key are its checksum, so they are evenly distributed.
    let index = 0;
    for (let at = Math.max(start, end - 4); at < end; at++) index = index * 31 + (bytes[at] as number);
    index &= CREDENTIALS_MAX - 1;
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
