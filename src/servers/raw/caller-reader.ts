import type { Socket } from 'node:net';
import type { Caller, Client } from '../../protocol/serve.ts';
import type { TrustedProxies } from '../client-address.ts';
import { credentialIn } from '../credential.ts';
import { networkIn } from '../network-parameter.ts';
import { sessionOf } from '../session-header.ts';
import type { FastHead, Span } from './fast-head.ts';
import { LastText } from './last-text.ts';
import type { Shown, ShownCredentials } from './shown-credentials.ts';

/**
 * Who asks on one connection. Most say the same with every request, so that what was made of the last one is used again:
 * texts, credential and caller are the same objects then.
 */
export class CallerReader {
  readonly #socket: Socket;
  readonly #proxies: TrustedProxies;
  readonly #credentials: ShownCredentials;
  readonly #query = new LastText();
  readonly #origin = new LastText();
  readonly #forwarded = new LastText();
  readonly #session = new LastText();
  readonly #place: { origin: string | undefined; 'x-forwarded-for': string | undefined } = {
    origin: undefined,
    'x-forwarded-for': undefined,
  };
  #shown: Shown | null = null;
  #asked = '';
  #caller: Caller;

  constructor(socket: Socket, proxies: TrustedProxies, credentials: ShownCredentials) {
    this.#socket = socket;
    this.#credentials = credentials;
    this.#proxies = proxies;
    const client = proxies.clientOf(socket, this.#place);
    this.#caller = { credential: null, client, traceparent: null, session: null };
  }

  /** Whoever sent this head. */
  read(head: FastHead, bytes: Buffer): Caller {
    const { isThere, start, end } = head.authorization;
    const shown = isThere ? this.#credentials.of(bytes, start, end) : null;
    const asked = textOf(this.#query, head.query, bytes) ?? '';
    const isSame = shown === this.#shown && asked === this.#asked;
    const credential = isSame
      ? this.#caller.credential
      : (shown?.credential ?? credentialIn(undefined, asked));
    const network = isSame ? this.#caller.network : networkIn(asked);
    this.#shown = shown;
    this.#asked = asked;
    const client = this.#clientOf(head, bytes);
    const { traceparent: trace } = head;
    const traceparent = trace.isThere ? bytes.toString('latin1', trace.start, trace.end) : null;
    const session = sessionOf(textOf(this.#session, head.session, bytes));
    const last = this.#caller;
    if (isSame && client === last.client && traceparent === last.traceparent && session === last.session)
      return last;
    this.#caller = { credential, client, traceparent, session, network };
    return this.#caller;
  }

  #clientOf(head: FastHead, bytes: Buffer): Client {
    const place = this.#place;
    place.origin = textOf(this.#origin, head.origin, bytes);
    place['x-forwarded-for'] = textOf(this.#forwarded, head.forwarded, bytes);
    return this.#proxies.clientOf(this.#socket, place);
  }
}

/** The text of a field; undefined when it is not there. */
const textOf = (last: LastText, { isThere, start, end }: Span, bytes: Buffer): string | undefined =>
  isThere ? last.of(bytes, start, end) : undefined;
