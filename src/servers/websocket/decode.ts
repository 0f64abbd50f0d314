import type { IncomingMessage } from 'node:http';
import { Failure } from '../../protocol/errors.ts';
import {
  decodeEnvelope,
  type Envelope,
  type EnvelopeItem,
  type EnvelopeLimits,
} from '../../protocol/request-envelope.ts';
import { type SubscriptionMethod, subscriptionByMethod } from '../../protocol/subscriptions.ts';

export type ClientCall = EnvelopeItem & { kind: 'call' };

export type Received = Readonly<{ envelope: Envelope; failure: null } | { envelope: null; failure: Failure }>;

/** Decodes a JSON-RPC message. Accepts binary messages that contain UTF-8, as Agave does. */
export function decodeMessage(message: Buffer, limits: EnvelopeLimits): Received {
  try {
    return { envelope: decodeEnvelope(message, limits), failure: null };
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    return { envelope: null, failure: thrown };
  }
}

export const subscriptionMethodOf = ({ method }: ClientCall): SubscriptionMethod | undefined =>
  subscriptionByMethod(method);

/** 16 bytes in base64. Source: RFC 6455 §4.2.1. */
const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSION = '13';
/** Source: RFC 6455 §4.2.1. */
const HTTP_VERSION = '1.1';

/** Subprotocol of pages that send their credential as the next one, because they cannot set headers. */
export const CREDENTIAL_PROTOCOL = 'api-key';

/** Returns KEY for `new WebSocket(url, ['api-key', KEY])`. */
export function credentialInProtocols({ headers }: IncomingMessage): string | null {
  const [name, credential] = (headers['sec-websocket-protocol'] ?? '').split(',').map((part) => part.trim());
  return name === CREDENTIAL_PROTOCOL && credential !== undefined ? credential : null;
}

export const upgradeHeaders = { upgrade: 'websocket', 'sec-websocket-version': VERSION };

/** Returns null for a valid opening handshake. */
export function handshakeFault({ headers, httpVersion }: IncomingMessage): Failure | null {
  if (httpVersion !== HTTP_VERSION) return new Failure('MALFORMED_HTTP');
  if (headers['sec-websocket-version'] !== VERSION) return new Failure('UPGRADE_REQUIRED');
  return KEY.test(headers['sec-websocket-key'] ?? '') ? null : new Failure('MALFORMED_HTTP');
}
