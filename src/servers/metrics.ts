import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { securityHeaders } from '../protocol/security-headers.ts';
import type { HttpHandler, HttpRoutes } from './http/routes.ts';

export const METRICS_PATH = '/metrics';

/** Bearer token required for /metrics; null allows everybody. */
export type MetricsAccess = Readonly<{ token: string | null }>;

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Constant-time: compares digests, which have equal length. */
function hasToken({ headers }: IncomingMessage, expected: Buffer): boolean {
  const [, given] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  return timingSafeEqual(digest(given ?? ''), expected);
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  const extra = status === 401 ? { 'www-authenticate': 'Bearer realm="metrics"' } : {};
  response.writeHead(status, {
    ...securityHeaders.state,
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    ...extra,
  });
  response.end(body);
}

/** GET /metrics in the Prometheus text format 0.0.4. */
export function metricsRoutes({ token }: MetricsAccess, render: () => string | Promise<string>): HttpRoutes {
  const expected = token === null ? null : digest(token);
  const get: HttpHandler = async (request, response) => {
    if (expected !== null && !hasToken(request, expected)) {
      const text = 'Send the token of this service as a header: Authorization: Bearer <token>\n';
      send(response, 401, 'text/plain; charset=utf-8', text);
      return;
    }
    send(response, 200, 'text/plain; version=0.0.4; charset=utf-8', await render());
  };
  return new Map([[METRICS_PATH, new Map([['GET', get]])]]);
}
