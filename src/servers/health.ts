import type { ServerResponse } from 'node:http';
import { writeJson } from '../base/json.ts';
import { securityHeaders } from '../protocol/security-headers.ts';
import type { HttpHandler, HttpRoutes } from './http/routes.ts';

/** State behind GET /ready. */ */
export type ReadinessFacts = Readonly<{
  /** Reachability of the key store. It does not decide readiness: cached keys work without it. */
  store: 'up' | 'away';
  upstreams: Readonly<{ total: number; usable: number }>;
  draining: boolean;
  /** In development mode the embedded ledger answers instead of a Solana network. */
  mode: 'development' | 'production';
}>;

const JSON_TYPE = 'application/json; charset=utf-8';

export const isReady = ({ upstreams, draining }: ReadinessFacts): boolean =>
  !draining && upstreams.usable > 0;

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    ...securityHeaders.state,
    'content-type': type,
    'content-length': Buffer.byteLength(body),
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
