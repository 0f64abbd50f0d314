import type { ServerResponse } from 'node:http';
import { writeJson } from '../base/json.ts';
import { securityHeaders } from '../protocol/security-headers.ts';
import type { HttpHandler, HttpRoutes } from './http/routes.ts';

/** What a load balancer and whoever looks after the service want to know. */
export type ReadinessFacts = Readonly<{
  /** Whether the store of keys can be reached. Known keys work without it, so it does not decide. */
  store: 'up' | 'away';
  upstreams: Readonly<{ total: number; usable: number }>;
  draining: boolean;
  /** In development mode the embedded ledger answers, not a Solana network. */
  mode: 'development' | 'production';
}>;

const JSON_TYPE = 'application/json; charset=utf-8';

/** Whether new requests should be sent here. */
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

/** GET /health: the process is up, and in which mode. GET /ready: 200 or 503, and the facts behind it as JSON. */
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
