import type { Behaviour } from './server.ts';

/** A page for people instead of JSON. */
export const htmlBadGateway: Behaviour = (_request, reply) => {
  reply.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>502 Bad Gateway</h1></html>');
};
