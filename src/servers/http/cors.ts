/** Headers that let a browser's script read an answer and what stands in its head, whoever may have sent it. */
export const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'RateLimit, RateLimit-Policy, Retry-After',
} as const;
