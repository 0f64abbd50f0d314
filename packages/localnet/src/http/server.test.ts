import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  call,
  executed,
  invalidRequest,
  JSON_TYPE,
  logged,
  notFound,
  ok,
  openServer,
  PARSE_ERROR,
  sendTo,
  WRONG_VERSION,
} from '../../test/http-rig.ts';
import type { LocalnetServer } from './server.ts';

let server: LocalnetServer;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server.close());

const send = (body: string | Buffer, options?: Parameters<typeof sendTo>[2]) =>
  sendTo(server.port, body, options);
const post = (body: string) => sendTo(server.port, body, { path: '/any/path?x=1', headers: JSON_TYPE });

describe('request body sent to any path', () => {
  it.each([
    ['a call', call('"id":1'), `${ok('1')}\n`],
    ['a call with a text id', call('"id":"a\\u00e9"'), `${ok('"aé"')}\n`],
    ['the largest u64 id', call('"id":18446744073709551615'), `${ok('18446744073709551615')}\n`],
    ['a negative id', call('"id":-1'), PARSE_ERROR],
    ['a whole id written with a point', call('"id":1.0'), PARSE_ERROR],
    ['a fraction nested in an id', call('"id":1,"params":[{"id":1.0}]'), `${ok('1')}\n`],
    ['a notification', '{"jsonrpc":"2.0","method":"getHealth"}', ''],
    ['no jsonrpc', '{"method":"getHealth","id":1}', WRONG_VERSION],
    ['a null jsonrpc', '{"jsonrpc":null,"method":"getHealth","id":1}', WRONG_VERSION],
    ['no method', '{"jsonrpc":"2.0","id":1}', `${invalidRequest('1')}\n`],
    [
      'null params',
      '{"jsonrpc":"2.0","method":"echo","id":1,"params":null}',
      '{"jsonrpc":"2.0","result":"none","id":1}\n',
    ],
    [
      'params with a u64',
      '{"jsonrpc":"2.0","method":"echo","id":1,"params":[18446744073709551615]}',
      '{"jsonrpc":"2.0","result":[18446744073709551615],"id":1}\n',
    ],
    ['an unknown method', '{"jsonrpc":"2.0","method":"nope","id":1}', notFound],
    ['a method called __proto__', '{"jsonrpc":"2.0","method":"__proto__","id":1}', notFound],
    ['invalid JSON', '{"jsonrpc":', PARSE_ERROR],
    [
      'a method that rejects',
      '{"jsonrpc":"2.0","method":"fails","id":1}',
      '{"jsonrpc":"2.0","error":{"code":-32016,"message":"Minimum context slot has not been reached","data":{"contextSlot":7}},"id":1}\n',
    ],
    ['an empty batch', '[]', ''],
    ['a batch of notifications', '[{"jsonrpc":"2.0","method":"getHealth"}]', ''],
    ['a batch', `[${call('"id":1')},${call('"id":"b"')}]`, `[${ok('1')},${ok('"b"')}]\n`],
    [
      'a batch with a notification and an invalid member',
      `[${call('"id":1')},{"jsonrpc":"2.0","method":"getHealth"},{"a":1},{"jsonrpc":"2.0","id":2}]`,
      `[${ok('1')},${invalidRequest('null')},${invalidRequest('2')}]\n`,
    ],
    ['an id of 3000 characters', call(`"id":"${'x'.repeat(3000)}"`), `${ok(`"${'x'.repeat(3000)}"`)}\n`],
    ['params nested 200 deep', call(`"id":1,"params":${'['.repeat(200)}${']'.repeat(200)}`), PARSE_ERROR],
  ])('with %s gets the same response as from Agave', async (_name, body, expected) => {
    const seen = await post(body);
    expect(seen.text).toBe(expected);
    expect(seen.status).toBe(200);
    expect(seen.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('is not executed if it is a notification', async () => {
    executed.length = 0;
    await post('{"jsonrpc":"2.0","method":"getHealth"}');
    expect(executed).toEqual([]);
    await post(call('"id":1'));
    expect(executed).toEqual(['getHealth']);
  });

  it('with a batch runs its calls concurrently and orders the responses', async () => {
    const seen = await post(
      '[{"jsonrpc":"2.0","method":"slow","id":1},{"jsonrpc":"2.0","method":"opensGate","id":2}]',
    );
    expect(seen.text).toBe(
      '[{"jsonrpc":"2.0","result":"slow","id":1},{"jsonrpc":"2.0","result":"open","id":2}]\n',
    );
  });

  it('that causes an internal error gets -32603 without details, which are logged', async () => {
    const seen = await post('{"jsonrpc":"2.0","method":"breaks","id":1}');
    expect(seen.text).toBe('{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error"},"id":1}\n');
    expect(logged.join('')).toContain('a secret detail');
  });
});

describe('transport', () => {
  it.each(['Application/JSON', 'application/json;charset=UTF-8'])(
    'accepts the content type %s',
    async (type) => {
      expect((await send(call('"id":1'), { headers: { 'content-type': type } })).status).toBe(200);
    },
  );

  it.each(['application/json; charset=latin1', ''])(
    'responds with 415 to the content type "%s"',
    async (type) => {
      const seen = await send(call('"id":1'), { headers: type === '' ? {} : { 'content-type': type } });
      expect(seen.status).toBe(415);
      expect(seen.headers['content-type']).toBe('text/plain; charset=utf-8');
      expect(seen.text).toBe(
        'Supplied content type is not allowed. Content-Type: application/json is required\n',
      );
    },
  );

  it('accepts 51,200 bytes and responds with 413 to one more', async () => {
    const body = call('"id":1').padEnd(51_200);
    expect((await post(body)).text).toBe(`${ok('1')}\n`);
    const seen = await post(`${body} `);
    expect([seen.status, seen.text]).toEqual([413, 'request body size exceeds allowed maximum']);
    const chunked = await send(`${body} `, { headers: { ...JSON_TYPE, 'transfer-encoding': 'chunked' } });
    expect([chunked.status, chunked.text]).toEqual([413, 'request body size exceeds allowed maximum']);
  });

  it.each([
    [[0x22, 0xff], 1],
    [[0xc3, 0xa9, 0xe2, 0x82], 2],
    [[0x80], 0],
    [[0x20, 0xc3, 0xa9, 0xc3, 0xa9, 0xc3, 0xa9, 0xff], 7],
  ])('responds with 400 to bytes %j, invalid UTF-8 at %i', async (bytes, at) => {
    const seen = await send(Buffer.from(bytes), { headers: JSON_TYPE });
    expect([seen.status, seen.text]).toEqual([400, `utf-8 encoding error at byte ${at} in request body`]);
  });

  it.each(['GET', 'PUT'])('responds with 405 to %s', async (method) => {
    const seen = await send('', { method });
    expect([seen.status, seen.text]).toEqual([
      405,
      'Used HTTP Method is not allowed. POST or OPTIONS is required\n',
    ]);
  });

  it('responds to OPTIONS with an empty body and the allowed methods', async () => {
    const seen = await send('', { method: 'OPTIONS' });
    expect([seen.status, seen.text]).toEqual([200, '']);
    expect(seen.headers).toMatchObject({ allow: 'OPTIONS, POST', accept: 'application/json' });
    expect(seen.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('responds to a preflight with origin and requested headers', async () => {
    const headers = {
      origin: 'https://wallet.example',
      'access-control-request-headers': 'content-type, solana-client',
    };
    expect((await send('', { method: 'OPTIONS', headers })).headers).toMatchObject({
      'access-control-allow-origin': 'https://wallet.example',
      'access-control-allow-methods': 'OPTIONS, POST',
      'access-control-allow-headers': 'content-type, solana-client',
      'access-control-max-age': '86400',
      vary: 'origin',
    });
  });

  it('adds CORS headers for another origin only', async () => {
    const from = async (origin: string) =>
      (await send(call('"id":1'), { headers: { ...JSON_TYPE, origin } })).headers;
    expect(await from('https://wallet.example')).toMatchObject({
      'access-control-allow-origin': 'https://wallet.example',
      vary: 'origin',
    });
    expect((await from(`http://127.0.0.1:${server.port}`))['access-control-allow-origin']).toBeUndefined();
  });

  it('rejects the literal origin null', async () => {
    const seen = await send(call('"id":1'), { headers: { ...JSON_TYPE, origin: 'null' } });
    expect(seen.status).toBe(403);
    expect(seen.text).toMatch(/^Origin of the request is not whitelisted/);
  });

  it.each([
    ['/health', 'ok'],
    ['/v0/total-supply', '500000000.012345'],
    ['/v0/circulating-supply', '499999997.512345'],
  ])('responds to GET %s with the text %s', async (path, text) => {
    const seen = await send('', { method: 'GET', path });
    expect([seen.status, seen.text]).toEqual([200, text]);
  });
});

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
    const small = await openServer({ bodyMaxBytes: 200, batchMaxCalls: 1 });
    const to = (body: string) => sendTo(small.port, body, { headers: JSON_TYPE });
    expect((await to(' '.repeat(201))).status).toBe(413);
    expect((await to(`[${call('"id":1')},${call('"id":2')}]`)).text).toBe(
      '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Batch too large; max 1"},"id":null}\n',
    );
    await small.close();
    await expect(to('{}')).rejects.toThrow();
  });

  it('reject the rest of a batch whose response is too large', async () => {
    const brief = await openServer({ batchAnswerMaxChars: 50 });
    const three = [1, 2, 3].map((id) => call(`"id":${id}`)).join(',');
    const seen = await sendTo(brief.port, `[${three}]`, { headers: JSON_TYPE });
    const full =
      '"error":{"code":-32603,"message":"Batch response too large. Split the batch into smaller ones."}';
    expect(seen.text).toBe(`[${ok('1')},${ok('2')},{"jsonrpc":"2.0",${full},"id":3}]\n`);
    await brief.close();
  });

  it('close sockets beyond the maximum', async () => {
    const narrow = await openServer({ connectionsMax: 1 });
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
    const closing = await openServer({
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

  it('stops waiting after the timeout', async () => {
    const { closing, answer } = await slowServer(50);
    const lost = expect(answer).rejects.toThrow();
    await closing.close();
    await lost;
  });
});
