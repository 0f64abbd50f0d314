import { type Behaviour, send } from './server.ts';

/** A page for people instead of JSON. */
export const htmlBadGateway: Behaviour = (_request, reply) => {
  reply.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>502 Bad Gateway</h1></html>');
};

/** HTTP says all is well, the JSON ends in the middle. */
export const truncated: Behaviour = ({ id }, reply) =>
  send(reply, `{"jsonrpc":"2.0","id":${id},"result":{"value":{"lamports":1}`);

/** The answer to another request. */
export const wrongId: Behaviour = ({ id }, reply) =>
  send(reply, `{"jsonrpc":"2.0","result":"not yours","id":${id + 1}}\n`);

/** An answer that names no request. */
export const noId: Behaviour = (_request, reply) => send(reply, '{"jsonrpc":"2.0","result":"whose?"}');

/** Nothing at all, with HTTP 200. */
export const empty: Behaviour = (_request, reply) => send(reply, '');
