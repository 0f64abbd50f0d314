import type { Behaviour } from './server.ts';

/** HTML error page. */
export const htmlBadGateway: Behaviour = (_request, reply) => {
  reply.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>502 Bad Gateway</h1></html>');
};
