/** CORS headers of every response: any origin may read it, since keys authorize and origins do not. */
export const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'RateLimit, RateLimit-Policy, Retry-After',
} as const;
