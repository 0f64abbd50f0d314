import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import type { RequestHandler } from '../../src/protocol/request-handler.ts';
import { FastHttpServer } from '../../src/servers/fast-path/server.ts';
import type { HttpUpgrade } from '../../src/servers/http/routes.ts';
import { HttpServer } from '../../src/servers/http/server.ts';
import { RpcCalls } from '../../src/servers/rpc/calls.ts';

const echo: HttpUpgrade = {
  paths: ['/echo'],
  protocol: 'echo',
  accept: (_request, socket, head) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\n');
    socket.write(head);
    socket.pipe(socket);
  },
  drain: async () => true,
};
const called = () => {
  throw new Error('nobody calls here');
};
const nobody: RequestHandler = {
  admit: called,
  dispatch: called,
  recordInvalidRequest: called,
};

it.each([{ sharesReads: true }, { sharesReads: false }])(
  'an upgraded connection delivers every byte after shared reads: $sharesReads',
  async ({ sharesReads }) => {
    const log = createLogger('silent', () => {});
    const front = new FastHttpServer(new RpcCalls(nobody), log, { sharesReads });
    const http = new HttpServer(new Map(), log, {}, [echo], new Map(), front);
    const { port } = await http.listen();
    const socket = connect(port, '127.0.0.1');
    const sent = 'GET /echo HTTP/1.1\r\nhost: x\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\n';
    const text = Array.from({ length: 100_000 }, (_, i) => `${i} `).join('');
    let received = '';
    socket.setEncoding('latin1');
    const ended = new Promise<void>((resolve) => {
      socket.on('data', (piece) => {
        received += piece;
        if (received.length > 10 && !socket.writableEnded && received.includes('\r\n\r\n')) socket.end(text);
      });
      socket.on('end', resolve);
    });
    socket.write(`${sent}head `);
    await ended;
    expect(received.slice(received.indexOf('\r\n\r\n') + 4) === `head ${text}`).toBe(true);
    expect(await http.drain(1_000)).toBe(true);
  },
);
