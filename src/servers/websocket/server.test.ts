import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { createLogger } from '../../base/log.ts';
import type { Session, WebSocketHandler } from '../../streams/session.ts';
import { WebSocketUpgrade } from './server.ts';

it('closes the session of a client that disconnected before the handshake', () => {
  const events: string[] = [];
  const session = {
    limits: { subscriptionsMax: 1, messageMaxBytes: 1_000 },
    close: () => events.push('closed'),
  } as unknown as Session;
  const handler: WebSocketHandler = { connect: () => session };
  const dialect = new WebSocketUpgrade(
    handler,
    createLogger('trace', (line) => events.push(line)),
  );
  const headers = { upgrade: 'websocket', 'sec-websocket-version': '13' };
  const request = {
    method: 'GET',
    httpVersion: '1.1',
    headers: { ...headers, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
  } as unknown as IncomingMessage;
  const socket = new Socket();
  socket.destroy();
  dialect.accept(request, socket, Buffer.alloc(0), 'api-key=x');
  expect([events, dialect.size]).toEqual([['closed'], 0]);
});
