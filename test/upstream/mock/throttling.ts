import type { Behaviour } from './server.ts';

/** HTTP 429 with this Retry-After. */
export const throttling =
  (retryAfter?: string): Behaviour =>
  (_request, reply) => {
    reply.writeHead(429, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
    reply.end('{"error":"Too many requests, buy more at https://provider.example/key-abcdef"}');
  };
