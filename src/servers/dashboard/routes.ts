import type { ServerResponse } from 'node:http';
import { Failure } from '../../protocol/errors.ts';
import { securityHeaders } from '../../protocol/security-headers.ts';
import { rejectRequest } from '../http/encode.ts';
import { type HttpHandler, type HttpRoutes, NOT_FOUND_PAGE, PageVerbs } from '../http/routes.ts';
import { type DashboardFile, type DashboardFiles, encodingFor, readDashboard } from './files.ts';

/** Paths of the dashboard's pages. A test compares them with web/src/routes.tsx. */
export const dashboardPaths = [
  '/',
  '/keys',
  '/keys/*',
  '/usage',
  '/performance',
  '/billing',
  '/errors',
  '/fleet',
  '/logs',
  '/streams',
  '/transactions',
  '/upstreams',
  '/upstreams/*',
  '/playground',
  '/team',
  '/audit',
  '/settings',
  '/sign-in',
  '/sign-up',
  '/reset-password',
  '/setup',
  '/invite',
  '/usage-link',
] as const;

const pageHeaders = securityHeaders.page;

const IMMUTABLE_CACHE = 'public, max-age=31536000, immutable';

/** A page with a secret in its URL, not for search engines or shared caches. */
const privateHeaders = { 'cache-control': 'private, no-cache', 'x-robots-tag': 'noindex' } as const;

function sendFile(
  response: ServerResponse,
  file: DashboardFile,
  status: 200 | 404 = 200,
  additionalHeaders: Readonly<Record<string, string>> = {},
): void {
  const { headers: requested } = response.req;
  const encoding = encodingFor(file, requested['accept-encoding']?.toString());
  const bytes = (encoding === null ? undefined : file.encoded[encoding]) ?? file.bytes;
  const etag = `"${file.tag}${encoding === null ? '' : `-${encoding}`}"`;
  const headers = {
    ...pageHeaders,
    'cache-control': file.isImmutable ? IMMUTABLE_CACHE : 'no-cache',
    vary: 'accept-encoding',
    etag,
    ...additionalHeaders,
  };
  if (status === 200 && requested['if-none-match']?.includes(etag) === true) {
    response.writeHead(304, headers).end();
    return;
  }
  response.writeHead(status, {
    ...headers,
    'content-type': file.type,
    'content-length': bytes.length,
    ...(encoding === null ? {} : { 'content-encoding': encoding }),
  });
  response.end(bytes);
}

function sendNotBuilt(response: ServerResponse): void {
  const headers = {
    ...pageHeaders,
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(notBuiltPage),
    'cache-control': 'no-store',
  };
  response.writeHead(503, headers).end(notBuiltPage);
}

/** No route needs a key: pages get data from the control API. If files are missing, each request tries to load them. */
export function dashboardRoutes(folder: string): HttpRoutes {
  let built: DashboardFiles | null = null;
  const files = (): DashboardFiles | null => {
    built ??= readDashboard(folder);
    return built;
  };
  const pageWith =
    (status: 200 | 404, headers = {}): HttpHandler =>
    (_request, response) => {
      const found = files();
      if (found === null) sendNotBuilt(response);
      else sendFile(response, found.page, status, headers);
    };
  const page = pageWith(200);
  const asset: HttpHandler = (_request, response, _query, path) => {
    const file = files()?.assets.get(path);
    if (file !== undefined) sendFile(response, file);
    else rejectRequest(response, new Failure('NOT_FOUND', { facts: { paths: '/' } }));
  };
  const docs: HttpHandler = (_request, response, _query, path) => {
    const built = files();
    if (built === null) sendNotBuilt(response);
    else if (path.endsWith('/')) response.writeHead(308, { location: path.replace(/\/+$/, '') }).end();
    else sendFile(response, built.docs.get(path) ?? built.page, built.docs.has(path) ? 200 : 404);
  };
  const pages = dashboardPaths.map((path) => [path, new PageVerbs([['GET', page]])] as const);
  return new Map([
    ...pages,
    ['/usage-link', new PageVerbs([['GET', pageWith(200, privateHeaders)]])],
    ['/assets/*', new PageVerbs([['GET', asset]])],
    ['/docs', new PageVerbs([['GET', docs]])],
    ['/docs/**', new PageVerbs([['GET', docs]])],
    // Serve the same page, whose router shows "not found".
    [NOT_FOUND_PAGE, new PageVerbs([['GET', pageWith(404)]])],
  ]);
}

export const notBuiltPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Solway: dashboard not built</title>
</head>
<body>
<main>
<h1>The dashboard has not been built</h1>
<p>The service is running without its dashboard. In the source folder, run</p>
<pre>npm run build:web</pre>
<p>and reload this page. The service does not need a restart.</p>
<p>The APIs are available: see the <a href="/docs/rest-api">REST API reference</a>; the control API is under
<code>/api/v1</code>.</p>
</main>
</body>
</html>
`;
