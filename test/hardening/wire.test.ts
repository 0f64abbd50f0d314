import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rawPost, type TestHttpServer } from '../servers/start-http-server.ts';
import { call, serverVariants, statuses } from './server-variants.ts';
import { headOf, wireCases } from './wire-cases.ts';

/** Malformed requests of clients and misled proxies. */
describe.each(serverVariants)('bytes for the %s server', (_name, open) => {
  let server: TestHttpServer;
  let key: string;

  beforeEach(async () => {
    server = await open({ headersTimeoutMs: 1_000, requestTimeoutMs: 1_000 });
    key = server.createKey();
  });
  afterEach(() => server.stop());

  const send = (bytes: string): Promise<string> => {
    const wire = server.connect();
    wire.socket.write(bytes, 'latin1');
    return wire.ended();
  };
  const methods = (): string[] => server.calls.map((entry) => entry.call.method);

  it('that are no request are refused once, and nothing behind them is executed', async () => {
    const hidden = rawPost(key, call('hidden'));
    const ends = await Promise.all(
      wireCases.map(async ([name, bytes]) => [name, await send(bytes(headOf(key), hidden))] as const),
    );
    const wrong = ends.filter(([, received]) => `${statuses(received)}` !== '400');
    expect(wrong.map(([name, received]) => [name, received.slice(0, 200)])).toEqual([]);
    expect(methods()).toEqual([]);
    for (const [, received] of ends) expect(received).toMatch(/\r\nconnection: close\r\n/i);
  });

  it('in trailers add nothing to the headers of this or the next request', async () => {
    const body = call('first');
    const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n`;
    const trailers = `host: y\r\ncontent-type: text/plain\r\nauthorization: Bearer ${key}\r\n\r\n`;
    const next = rawPost(key, call('next'), 'connection: close\r\n');
    const head = `${headOf(key)}transfer-encoding: chunked\r\n\r\n`;
    expect(statuses(await send(head + chunked + trailers + next))).toEqual([200, 200]);
    expect(methods()).toEqual(['first', 'next']);
    const keyless = head.replace(/authorization.*\r\n/, '');
    expect(statuses(await send(keyless + chunked + trailers))).toEqual([401]);
    expect(statuses(await send(`${head}${chunked}content-length: 5\r\n\r\n${next}`))).toEqual([400]);
    expect(methods()).toEqual(['first', 'next']);
  });

  it('with any form of the target reach the same path', async () => {
    const answers = [
      ['/health', 200],
      ['http://evil.example/health', 200],
      ['http://evil.example', 404],
      ['/health/', 404],
      ['/%68ealth', 404],
      ['/v1%2frpc', 404],
      ['/x/../health', 404],
      ['/health;a=b', 404],
      ['/health%00', 404],
      ['/health?api-key=a#b', 200],
    ] as const;
    for (const [target, status] of answers) {
      const received = await send(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
      expect([target, ...statuses(received)]).toEqual([target, status]);
    }
  });
});
