/**
 * What browsers are told about answers, a row for each kind of them. Every answer but those of JSON-RPC and REST, which
 * are nothing that a browser shows, has the headers of its row; test/hardening/security-headers.test.ts asks every route.
 * Sources: CSP level 3, Fetch (nosniff, Cross-Origin-Resource-Policy), HTML (Cross-Origin-Opener-Policy).
 */

const policy = (...directives: readonly string[]): string => directives.join('; ');

/** Of every row: types are not guessed, and no address that may hold something is told to whom a link leads. */
const baseHeaders = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' } as const;

/** Nothing to show: it loads nothing, and stands in no frame. */
const DATA_POLICY = policy("default-src 'none'", "frame-ancestors 'none'");

export const securityHeaders = {
  /** The dashboard: all comes from here and nothing is inline. */
  page: {
    ...baseHeaders,
    'content-security-policy': policy(
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
    ),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  },
  /** The page of the REST interface and its document: nothing comes from elsewhere, nothing runs, any site may read. */
  reference: {
    ...baseHeaders,
    'content-security-policy': policy(
      "default-src 'none'",
      "style-src 'unsafe-inline'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'cross-origin',
  },
  /** The control API, which shows secrets: kept nowhere, and for its own pages only. */
  api: {
    ...baseHeaders,
    'cache-control': 'no-store',
    'content-security-policy': DATA_POLICY,
    'cross-origin-resource-policy': 'same-origin',
  },
  /** Files that anybody may have sent: a browser may show them, on any page, and do nothing else with them. */
  file: {
    ...baseHeaders,
    'content-security-policy': policy(
      'sandbox',
      "default-src 'none'",
      "img-src 'self' data:",
      "media-src 'self'",
      "style-src 'unsafe-inline'",
      "base-uri 'none'",
      "form-action 'none'",
    ),
    'cross-origin-resource-policy': 'cross-origin',
  },
  /** Health and metrics. */
  state: { ...baseHeaders, 'cache-control': 'no-store', 'content-security-policy': DATA_POLICY },
  /** What is refused before it belongs to anybody. Pages of other origins may read why. */
  refusal: { ...baseHeaders, 'cache-control': 'no-store', 'content-security-policy': DATA_POLICY },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;
