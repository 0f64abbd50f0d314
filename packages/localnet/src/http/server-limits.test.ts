import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../../../src/base/log.ts';
import { call, handlers, JSON_TYPE, node, ok, openServer, sendTo } from '../../test/http-rig.ts';
import { type LocalnetServer, startLocalnetServer } from './server.ts';

let server: LocalnetServer;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server.close());

describe('server limits', () => {
  const bodyOf = async (raw: string, closeEarly = false): Promise<string> => {
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(raw);
    if (closeEarly) socket.destroy();
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    await once(socket, 'close');
    return text;
  };

  it('respond with 408 to a late header or body', async () => {
    const [head, body] = await Promise.all([
      bodyOf('POST / HTTP/1.1\r\nhost: x\r\n'),
      bodyOf(
        'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"json',
      ),
    ]);
    expect(head).toMatch(/^HTTP\/1.1 408 /);
    expect(body).toMatch(/^HTTP\/1.1 408 /);
  });

  it('are configurable: body size and batch size', async () => {
    const small = await startLocalnetServer(node, {
      port: 0,
      log: createLogger('silent', () => {}),
      handlers,
      bodyMaxBytes: 200,
      batchMaxCalls: 1,
    });
    const to = (body: string) => sendTo(small.port, body, { headers: JSON_TYPE });
    expect((await to(' '.repeat(201))).status).toBe(413);
    expect((await to(`[${call('"id":1')},${call('"id":2')}]`)).text).toBe(
      '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Batch too large; max 1"},"id":null}\n',
    );
    await small.close();
    await expect(to('{}')).rejects.toThrow();
  });

  it('reject the rest of a batch whose response is too large', async () => {
    const brief = await startLocalnetServer(node, {
      port: 0,
      log: createLogger('silent', () => {}),
      handlers,
      batchAnswerMaxChars: 50,
    });
    const three = [1, 2, 3].map((id) => call(`"id":${id}`)).join(',');
    const seen = await sendTo(brief.port, `[${three}]`, { headers: JSON_TYPE });
    const full =
      '"error":{"code":-32603,"message":"Batch response too large. Split the batch into smaller ones."}';
    expect(seen.text).toBe(`[${ok('1')},${ok('2')},{"jsonrpc":"2.0",${full},"id":3}]\n`);
    await brief.close();
  });

  it('close sockets beyond the maximum', async () => {
    const narrow = await startLocalnetServer(node, {
      port: 0,
      log: createLogger('silent', () => {}),
      handlers,
      connectionsMax: 1,
    });
    const first = connect(narrow.port, '127.0.0.1');
    await once(first, 'connect');
    const second = connect(narrow.port, '127.0.0.1');
    second.on('error', () => {});
    await once(second, 'close');
    expect(first.destroyed).toBe(false);
    first.destroy();
    await narrow.close();
  });
});

describe('server shutdown', () => {
  const slowServer = async (drainTimeoutMs: number) => {
    const started = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<string>();
    const closing = await startLocalnetServer(node, {
      port: 0,
      log: createLogger('silent', () => {}),
      drainTimeoutMs,
      handlers: {
        waits: () => {
          started.resolve();
          return finish.promise;
        },
      },
    });
    const answer = sendTo(closing.port, '{"jsonrpc":"2.0","method":"waits","id":1}', {
      headers: { ...JSON_TYPE, connection: 'keep-alive' },
    });
    await started.promise;
    return { closing, finish, answer };
  };

  it('finishes running requests and accepts no new ones', async () => {
    const { closing, finish, answer } = await slowServer(600_000);
    const closed = closing.close();
    await expect(sendTo(closing.port, '{}', { headers: JSON_TYPE })).rejects.toThrow();
    finish.resolve('done');
    expect((await answer).text).toBe('{"jsonrpc":"2.0","result":"done","id":1}\n');
    await closed;
  }, 4_000);

  it('does not wait forever', async () => {
    const { closing, answer } = await slowServer(50);
    const lost = expect(answer).rejects.toThrow();
    await closing.close();
    await lost;
  });
});
