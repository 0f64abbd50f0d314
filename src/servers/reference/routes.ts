import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { securityHeaders } from '../../protocol/security-headers.ts';
import { corsHeaders } from '../http/encode.ts';
import type { HttpHandler, HttpRoutes } from '../http/routes.ts';
import { type ApiDocument, referencePage } from './page.ts';

/** Only a plain host and port are echoed into the page. */
const HOST = /^[A-Za-z0-9.-]{1,253}(?::\d{1,5})?$|^\[[0-9A-Fa-f:.]{2,45}\](?::\d{1,5})?$/;

function send(response: ServerResponse, type: string, body: string): void {
  const bytes = Buffer.from(body);
  response.writeHead(200, {
    ...corsHeaders,
    ...securityHeaders.reference,
    'content-type': type,
    'content-length': bytes.length,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    'cache-control': 'no-cache',
  });
  response.end(bytes);
}

/** GET /openapi.json: the REST API as OpenAPI. GET /docs/rest-api: the same reference as HTML. Neither needs a key. */
export function referenceRoutes(document: ApiDocument): HttpRoutes {
  const json = JSON.stringify(document);
  const openApi: HttpHandler = (_request, response) =>
    send(response, 'application/json; charset=utf-8', json);
  const page: HttpHandler = ({ headers, socket }, response) => {
    const scheme = (socket as Partial<TLSSocket>).encrypted === true ? 'https' : 'http';
    const host = headers.host !== undefined && HOST.test(headers.host) ? headers.host : 'localhost';
    send(response, 'text/html; charset=utf-8', referencePage(document, `${scheme}://${host}`));
  };
  return new Map([
    ['/openapi.json', new Map([['GET', openApi]])],
    ['/docs/rest-api', new Map([['GET', page]])],
  ]);
}
