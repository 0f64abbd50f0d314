import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { corsHeaders } from '../cors.ts';
import type { HttpHandler, HttpRoutes } from '../http-route.ts';
import { type ApiDocument, referencePage } from './page.ts';

/** A name and port that a client may have reached us under; anything else is not repeated to it. */
const HOST = /^[A-Za-z0-9.-]{1,253}(?::\d{1,5})?$|^\[[0-9A-Fa-f:.]{2,45}\](?::\d{1,5})?$/;

/** Nothing of the page comes from elsewhere, and nothing of it runs. */
const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

function send(response: ServerResponse, type: string, body: string, policy = PAGE_POLICY): void {
  const bytes = Buffer.from(body);
  response.writeHead(200, {
    ...corsHeaders,
    'content-type': type,
    'content-length': bytes.length,
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    'cache-control': 'no-cache',
  });
  response.end(bytes);
}

/** GET /openapi.json: the REST interface for programs. GET /docs: the same for people. Neither needs a key. */
export function referenceRoutes(document: ApiDocument): HttpRoutes {
  const json = JSON.stringify(document);
  const openApi: HttpHandler = (_request, response) =>
    send(response, 'application/json; charset=utf-8', json);
  const page: HttpHandler = ({ headers }, response) => {
    const host = headers.host !== undefined && HOST.test(headers.host) ? headers.host : 'localhost';
    send(response, 'text/html; charset=utf-8', referencePage(document, `http://${host}`));
  };
  return new Map([
    ['/openapi.json', new Map([['GET', openApi]])],
    ['/docs', new Map([['GET', page]])],
    ['/docs/', new Map([['GET', page]])],
  ]);
}
