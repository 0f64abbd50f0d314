import type { Socket } from 'node:net';
import type { Caller, ClientInfo } from '../../protocol/request-handler.ts';
import type { TrustedProxies } from '../client-address.ts';
import { credentialIn } from '../credential.ts';
import { networkIn } from '../network-parameter.ts';
import { sessionOf } from '../session-header.ts';
import type { CachedAuthorization, CredentialCache } from './credential-cache.ts';
import type { FastHead, Span } from './fast-head.ts';
import { LastValueCache } from './last-value-cache.ts';

/**
 * Who asks on one connection. Most say the same with every request, so that what was made of the last one is used again:
 * texts, credential and caller are the same objects then.
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

  /** Whoever sent this head. */
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

/** The text of a field; undefined when it is not there. */
const textOf = (last: LastValueCache, { isPresent, start, end }: Span, bytes: Buffer): string | undefined =>
  isPresent ? last.of(bytes, start, end) : undefined;
