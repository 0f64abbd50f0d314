import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { writeJson } from '../base/json.ts';
import { securityHeaders } from '../protocol/security-headers.ts';
import type { HttpHandler, HttpRoutes } from './http/routes.ts';

export type ReadinessFacts = Readonly<{
  /** State of the key store. Does not affect readiness, because loaded keys work without the store. */
  store: 'up' | 'away';
  upstreams: Readonly<{ total: number; usable: number }>;
  draining: boolean;
  /** In development mode, the embedded ledger replaces the Solana network. */
  mode: 'development' | 'production';
}>;

const JSON_TYPE = 'application/json; charset=utf-8';

export const isReady = ({ upstreams, draining }: ReadinessFacts): boolean =>
  !draining && upstreams.usable > 0;

function send(
  response: ServerResponse,
  status: number,
  type: string,
  body: string,
  extra: OutgoingHttpHeaders = {},
): void {
  response.writeHead(status, {
    ...securityHeaders.state,
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    ...extra,
  });
  response.end(body);
}

/** GET /health: liveness and mode. GET /ready: 200 or 503, with the readiness facts as JSON. */
export function healthRoutes(facts: () => ReadinessFacts): HttpRoutes {
  const health: HttpHandler = (_request, response) =>
    send(response, 200, JSON_TYPE, `${writeJson({ status: 'ok', mode: facts().mode })}\n`);
  const ready: HttpHandler = (_request, response) => {
    const now = facts();
    const body = `${writeJson({ ready: isReady(now), ...now })}\n`;
    send(response, isReady(now) ? 200 : 503, JSON_TYPE, body);
  };
  return new Map([
    ['/health', new Map([['GET', health]])],
    ['/ready', new Map([['GET', ready]])],
  ]);
}

type MetricsAccess = Readonly<{ token: string | null }>;

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Constant-time: compares digests, which have equal length. */
function hasToken({ headers }: IncomingMessage, expected: Buffer): boolean {
  const [, given] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  return timingSafeEqual(digest(given ?? ''), expected);
}

/** GET /metrics in the Prometheus text format 0.0.4. */
export function metricsRoutes({ token }: MetricsAccess, render: () => string | Promise<string>): HttpRoutes {
  const expected = token === null ? null : digest(token);
  const get: HttpHandler = async (request, response) => {
    if (expected !== null && !hasToken(request, expected)) {
      const text = 'Missing or invalid token. Send the header Authorization: Bearer <metrics token>.\n';
      const challenge = { 'www-authenticate': 'Bearer realm="metrics"' };
      send(response, 401, 'text/plain; charset=utf-8', text, challenge);
      return;
    }
    send(response, 200, 'text/plain; version=0.0.4; charset=utf-8', await render());
  };
  return new Map([['/metrics', new Map([['GET', get]])]]);
}
