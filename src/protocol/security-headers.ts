/** Omitted from JSON-RPC and REST responses, which browsers do not render. Sources: CSP level 3, Fetch, HTML. */

const policy = (...directives: readonly string[]): string => directives.join('; ');

const baseHeaders = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' } as const;

/** Allows no resources and no framing. */
const DATA_POLICY = policy("default-src 'none'", "frame-ancestors 'none'");

export const securityHeaders = {
  /** Dashboard: same-origin resources, nothing inline. */
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
  /** REST reference and OpenAPI document: no scripts, readable by any site. */
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
  /** Control API, whose responses may contain secrets: not cached, same-origin only. */
  api: {
    ...baseHeaders,
    'cache-control': 'no-store',
    'content-security-policy': DATA_POLICY,
    'cross-origin-resource-policy': 'same-origin',
  },
  /** Uploaded files, which may be hostile: any site may embed them, but they are sandboxed. */
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
  state: { ...baseHeaders, 'cache-control': 'no-store', 'content-security-policy': DATA_POLICY },
  /** Early rejections; readable by pages from other origins. */
  error: { ...baseHeaders, 'cache-control': 'no-store', 'content-security-policy': DATA_POLICY },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;
