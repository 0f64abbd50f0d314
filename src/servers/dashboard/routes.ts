import type { IncomingMessage, ServerResponse } from 'node:http';
import { Failure } from '../../protocol/errors.ts';
import { refuse } from '../http-refuse.ts';
import type { HttpHandler, HttpRoutes } from '../http-route.ts';
import { type DashboardFile, type DashboardFiles, encodingFor, readDashboard } from './files.ts';
import { notBuiltPage } from './not-built-page.ts';

/** Where the pages of the dashboard stand, so that an address can be opened, kept and passed on. The pages' own table
 * of them is web/src/routes.tsx; a test holds the two equal. */
export const dashboardPaths = [
  '/',
  '/keys',
  '/keys/*',
  '/usage',
  '/performance',
  '/errors',
  '/logs',
  '/streams',
  '/transactions',
  '/upstreams',
  '/playground',
  '/team',
  '/audit',
  '/settings',
  '/sign-in',
  '/sign-up',
  '/reset-password',
  '/setup',
  '/invite',
] as const;

export type DashboardOptions = Readonly<{
  /** What `npm run build:web` made. */
  folder: string;
  /** Origins besides its own that the page may talk to: those of doors with public addresses of their own. */
  origins: readonly string[];
}>;

/** Scripts, styles and images come from here and nowhere else, none of them inline, and nobody frames the page. */
const policyOf = (origins: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src ${["'self'", ...origins].join(' ')}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');

const guards = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** A year. */
const FOR_EVER = 'public, max-age=31536000, immutable';

function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: DashboardFile,
  policy: string,
): void {
  const encoding = encodingFor(file, request.headers['accept-encoding']?.toString());
  const bytes = (encoding === null ? undefined : file.encoded[encoding]) ?? file.bytes;
  const etag = `"${file.tag}${encoding === null ? '' : `-${encoding}`}"`;
  const headers = {
    ...guards,
    'content-security-policy': policy,
    'cache-control': file.isImmutable ? FOR_EVER : 'no-cache',
    vary: 'accept-encoding',
    etag,
  };
  if (request.headers['if-none-match']?.includes(etag) === true) {
    response.writeHead(304, headers).end();
    return;
  }
  response.writeHead(200, {
    ...headers,
    'content-type': file.type,
    'content-length': bytes.length,
    ...(encoding === null ? {} : { 'content-encoding': encoding }),
  });
  response.end(bytes);
}

function sendNotBuilt(response: ServerResponse, policy: string): void {
  const body = Buffer.from(notBuiltPage);
  response.writeHead(503, {
    ...guards,
    'content-security-policy': policy,
    'content-type': 'text/html; charset=utf-8',
    'content-length': body.length,
    'cache-control': 'no-store',
  });
  response.end(body);
}

/**
 * GET of each of the dashboard's pages, and of what they are made of. Nothing of it needs a key: what the pages show
 * they ask of the control API. Files are read once, and looked for again as long as they were not there.
 */
export function dashboardRoutes({ folder, origins }: DashboardOptions): HttpRoutes {
  const policy = policyOf(origins);
  let built: DashboardFiles | null = null;
  const files = (): DashboardFiles | null => {
    built ??= readDashboard(folder);
    return built;
  };
  const page: HttpHandler = (request, response) => {
    const found = files();
    if (found === null) sendNotBuilt(response, policy);
    else sendFile(request, response, found.page, policy);
  };
  const asset: HttpHandler = (request, response, _query, path) => {
    const file = files()?.assets.get(path);
    if (file !== undefined) sendFile(request, response, file, policy);
    else refuse(request, response, new Failure('NOT_FOUND', { facts: { paths: '/' } }));
  };
  const pages = dashboardPaths.map((path) => [path, new Map([['GET', page]])] as const);
  return new Map([...pages, ['/assets/*', new Map([['GET', asset]])]]);
}
