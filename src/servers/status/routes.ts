import type { ServerResponse } from 'node:http';
import { securityHeaders } from '../../protocol/security-headers.ts';
import type { ServiceStatus } from '../../protocol/service-status.ts';
import { corsHeaders } from '../http/encode.ts';
import type { HttpHandler, HttpRoutes } from '../http/routes.ts';
import { statusPage } from './page.ts';

/** How long a rendered status is used, so that many visitors cost no more than one. */
const RENDERED_MS = 2_000;
const CACHE_CONTROL = 'public, max-age=15';

function send(response: ServerResponse, type: string, body: Buffer): void {
  response.writeHead(200, {
    ...corsHeaders,
    ...securityHeaders.reference,
    'content-type': type,
    'content-length': body.length,
    'cache-control': CACHE_CONTROL,
  });
  response.end(body);
}

/** GET /status: HTML. GET /status.json: the same as JSON. Neither needs a key. */
export function statusRoutes(read: () => ServiceStatus): HttpRoutes {
  let rendered = { at: Number.NEGATIVE_INFINITY, page: Buffer.alloc(0), json: Buffer.alloc(0) };
  const render = (): typeof rendered => {
    const at = performance.now();
    if (at - rendered.at >= RENDERED_MS) {
      const status = read();
      rendered = {
        at,
        page: Buffer.from(statusPage(status)),
        json: Buffer.from(`${JSON.stringify(status)}\n`),
      };
    }
    return rendered;
  };
  const page: HttpHandler = (_request, response) => send(response, 'text/html; charset=utf-8', render().page);
  const json: HttpHandler = (_request, response) =>
    send(response, 'application/json; charset=utf-8', render().json);
  return new Map([
    ['/status', new Map([['GET', page]])],
    ['/status.json', new Map([['GET', json]])],
  ]);
}
