import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../base/log.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
import type { Bank, LocalNode } from '../node.ts';
import type { RpcHandler } from '../rpc-handler.ts';
import { type LocalnetServer, startLocalnetServer } from './server.ts';

/** One account of mainnet-beta that counts as not circulating there holds 2.5 SOL. */
const bank = {
  capitalization: 500_000_000_012_345_000n,
  accountsByOwner: () => [],
  account: (address: string) =>
    address === '14FUT96s9swbmH7ZjpDvfEDywnAYy9zaNhv4xvezySGu' ? { lamports: 2_500_000_000n } : null,
};
const node = {
  bank: () => bank as unknown as Bank,
} as unknown as LocalNode;

const executed: string[] = [];
const logged: string[] = [];
const gate = Promise.withResolvers<void>();

const handlers: Record<string, RpcHandler> = {
  getHealth: () => {
    executed.push('getHealth');
    return 'ok';
  },
  echo: (_node, params) => params ?? 'none',
  fails: () => {
    throw new RpcError(-32016, 'Minimum context slot has not been reached', { contextSlot: 7n });
  },
  breaks: () => {
    throw new Error('a secret detail');
  },
  slow: async () => {
    await gate.promise;
    return 'slow';
  },
  opensGate: () => {
    gate.resolve();
    return 'open';
  },
};

let server: LocalnetServer;
beforeAll(async () => {
  const log = createLogger('info', (line) => logged.push(line));
  server = await startLocalnetServer(node, {
    port: 0,
    log,
    handlers,
    headersTimeoutMs: 1_000,
    requestTimeoutMs: 1_000,
  });
});
afterAll(() => server.close());

type Seen = Readonly<{ status: number | undefined; headers: IncomingMessage['headers']; text: string }>;

async function send(
  body: string | Buffer,
  options: { method?: string; path?: string; headers?: Record<string, string>; port?: number } = {},
): Promise<Seen> {
  const { method = 'POST', path = '/', headers = {}, port = server.port } = options;
  const request = httpRequest({ host: '127.0.0.1', port, method, path, headers });
  request.on('error', () => {});
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return {
    status: response.statusCode,
    headers: response.headers,
    text: Buffer.concat(chunks).toString('utf8'),
  };
}

const JSON_TYPE = { 'content-type': 'application/json' };
const post = (body: string): Promise<Seen> => send(body, { path: '/any/path?x=1', headers: JSON_TYPE });
const call = (members: string): string => `{"jsonrpc":"2.0","method":"getHealth",${members}}`;
const PARSE_ERROR = '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}\n';
const invalidRequest = (id: string): string =>
  `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request"},"id":${id}}`;
const WRONG_VERSION = '{"error":{"code":-32600,"message":"Unsupported JSON-RPC protocol version"},"id":1}\n';
const notFound = '{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":1}\n';
const ok = (id: string): string => `{"jsonrpc":"2.0","result":"ok","id":${id}}`;

describe('a request body, sent to any path,', () => {
  it.each([
    ['a call', call('"id":1'), `${ok('1')}\n`],
    ['a call with a null id', call('"id":null'), `${ok('null')}\n`],
    ['a call with a text id', call('"id":"a\\u00e9"'), `${ok('"aé"')}\n`],
    ['an id of 2^53 + 1', call('"id":9007199254740993'), `${ok('9007199254740993')}\n`],
    ['the largest u64 id', call('"id":18446744073709551615'), `${ok('18446744073709551615')}\n`],
    ['an id above u64', call('"id":18446744073709551616'), PARSE_ERROR],
    ['a negative id', call('"id":-1'), PARSE_ERROR],
    ['an id of minus zero', call('"id":-0'), PARSE_ERROR],
    ['a fractional id', call('"id":1.5'), PARSE_ERROR],
    ['a whole id written with a point', call('"id":1.0'), PARSE_ERROR],
    ['a whole id written with an exponent', call('"id":1e2'), PARSE_ERROR],
    ['a boolean id', call('"id":true'), PARSE_ERROR],
    ['an array id', call('"id":[1]'), PARSE_ERROR],
    ['an object id', call('"id":{}'), PARSE_ERROR],
    ['a fraction as id deeper inside', call('"id":1,"params":[{"id":1.0}]'), `${ok('1')}\n`],
    ['a notification', '{"jsonrpc":"2.0","method":"getHealth"}', ''],
    ['no jsonrpc', '{"method":"getHealth","id":1}', WRONG_VERSION],
    ['a null jsonrpc', '{"jsonrpc":null,"method":"getHealth","id":1}', WRONG_VERSION],
    ['jsonrpc 1.0', '{"jsonrpc":"1.0","method":"getHealth","id":1}', `${invalidRequest('1')}\n`],
    ['a number as jsonrpc', '{"jsonrpc":2.0,"method":"getHealth","id":1}', `${invalidRequest('1')}\n`],
    ['an unknown member', call('"id":"x","extra":[]'), `${invalidRequest('"x"')}\n`],
    ['a method that is no text', '{"jsonrpc":"2.0","method":1,"id":1}', `${invalidRequest('1')}\n`],
    ['no method', '{"jsonrpc":"2.0","id":1}', `${invalidRequest('1')}\n`],
    ['an empty object', '{}', `${invalidRequest('null')}\n`],
    ['params that are a text', call('"id":1,"params":"a"'), `${invalidRequest('1')}\n`],
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
    ['a method called constructor', '{"jsonrpc":"2.0","method":"constructor","id":1}', notFound],
    ['a method called __proto__', '{"jsonrpc":"2.0","method":"__proto__","id":1}', notFound],
    ['a __proto__ member', call('"id":1,"__proto__":{}'), `${invalidRequest('1')}\n`],
    ['a method called toString', '{"jsonrpc":"2.0","method":"toString","id":1}', notFound],
    ['no JSON', '{"jsonrpc":', PARSE_ERROR],
    ['nothing', '', PARSE_ERROR],
    ['a number', '5', PARSE_ERROR],
    ['null', 'null', PARSE_ERROR],
    ['deeply nested arrays', '['.repeat(20_000), PARSE_ERROR],
    [
      'a method that refuses',
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
    ['a batch with an illegal id', `[${call('"id":1')},${call('"id":-1')}]`, PARSE_ERROR],
    ['a batch of numbers', '[1,2]', PARSE_ERROR],
    ['a batch with a number', `[1,${call('"id":1')}]`, PARSE_ERROR],
    ['two ids', call('"id":1,"id":1'), PARSE_ERROR],
    ['two methods', call('"id":1,"method":"getHealth"'), `${invalidRequest('1')}\n`],
    ['params twice', call('"id":1,"params":[],"params":[]'), `${invalidRequest('1')}\n`],
    ['jsonrpc twice', call('"id":1,"jsonrpc":"2.0"'), `${invalidRequest('1')}\n`],
    ['an id of 3000 characters', call(`"id":"${'x'.repeat(3000)}"`), `${ok(`"${'x'.repeat(3000)}"`)}\n`],
    ['params nested 200 deep', call(`"id":1,"params":${'['.repeat(200)}${']'.repeat(200)}`), PARSE_ERROR],
  ])('holding %s is answered as Agave answers it', async (_name, body, expected) => {
    const seen = await post(body);
    expect(seen.text).toBe(expected);
    expect(seen.status).toBe(200);
    expect(seen.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('does not execute a notification', async () => {
    executed.length = 0;
    await post('{"jsonrpc":"2.0","method":"getHealth"}');
    expect(executed).toEqual([]);
    await post(call('"id":1'));
    expect(executed).toEqual(['getHealth']);
  });

  it('runs the calls of a batch side by side and answers in the order they came', async () => {
    const seen = await post(
      '[{"jsonrpc":"2.0","method":"slow","id":1},{"jsonrpc":"2.0","method":"opensGate","id":2}]',
    );
    expect(seen.text).toBe(
      '[{"jsonrpc":"2.0","result":"slow","id":1},{"jsonrpc":"2.0","result":"open","id":2}]\n',
    );
  });

  it('answers a defect with -32603, logs it and tells the client nothing of it', async () => {
    const seen = await post('{"jsonrpc":"2.0","method":"breaks","id":1}');
    expect(seen.text).toBe('{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error"},"id":1}\n');
    expect(logged.join('')).toContain('a secret detail');
  });
});

describe('the transport', () => {
  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
  ])('takes the content type %s', async (type) => {
    expect((await send(call('"id":1'), { headers: { 'content-type': type } })).status).toBe(200);
  });

  it.each(['text/plain', 'application/json; charset=latin1', 'application/json-rpc', ''])(
    'answers 415 to the content type "%s"',
    async (type) => {
      const seen = await send(call('"id":1'), { headers: type === '' ? {} : { 'content-type': type } });
      expect(seen.status).toBe(415);
      expect(seen.headers['content-type']).toBe('text/plain; charset=utf-8');
      expect(seen.text).toBe(
        'Supplied content type is not allowed. Content-Type: application/json is required\n',
      );
    },
  );

  it('takes a body of exactly 51,200 bytes and answers 413 to one more', async () => {
    const body = call('"id":1').padEnd(51_200);
    expect((await post(body)).text).toBe(`${ok('1')}\n`);
    const seen = await post(`${body} `);
    expect([seen.status, seen.text]).toEqual([413, 'request body size exceeds allowed maximum']);
    const chunked = await send(`${body} `, { headers: { ...JSON_TYPE, 'transfer-encoding': 'chunked' } });
    expect([chunked.status, chunked.text]).toEqual([413, 'request body size exceeds allowed maximum']);
  });

  it('answers 413 to a 10 MB body and goes on', async () => {
    expect((await post(' '.repeat(10_000_000))).status).toBe(413);
    expect((await post(call('"id":1'))).status).toBe(200);
  });

  it.each([
    [[0x22, 0xff], 1],
    [[0xc3, 0xa9, 0xe2, 0x82], 2],
    [[0x80], 0],
    [[0x20, 0xc3, 0xa9, 0xc3, 0xa9, 0xc3, 0xa9, 0xff], 7],
  ])('answers 400 to bytes %j, which stop being UTF-8 at %i', async (bytes, at) => {
    const seen = await send(Buffer.from(bytes), { headers: JSON_TYPE });
    expect([seen.status, seen.text]).toEqual([400, `utf-8 encoding error at byte ${at} in request body`]);
  });

  it.each(['GET', 'PUT', 'DELETE', 'PATCH'])('answers 405 to %s', async (method) => {
    const seen = await send('', { method });
    expect([seen.status, seen.text]).toEqual([
      405,
      'Used HTTP Method is not allowed. POST or OPTIONS is required\n',
    ]);
  });

  it('answers OPTIONS with an empty body and what it allows', async () => {
    const seen = await send('', { method: 'OPTIONS' });
    expect([seen.status, seen.text]).toEqual([200, '']);
    expect(seen.headers).toMatchObject({ allow: 'OPTIONS, POST', accept: 'application/json' });
    expect(seen.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('answers a preflight with the origin and the headers it asked for', async () => {
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

  it('gives a call from another origin its CORS headers, and one from its own none', async () => {
    const from = async (origin: string) =>
      (await send(call('"id":1'), { headers: { ...JSON_TYPE, origin } })).headers;
    expect(await from('https://wallet.example')).toMatchObject({
      'access-control-allow-origin': 'https://wallet.example',
      vary: 'origin',
    });
    expect((await from(`http://127.0.0.1:${server.port}`))['access-control-allow-origin']).toBeUndefined();
  });

  it('refuses the literal origin null', async () => {
    const seen = await send(call('"id":1'), { headers: { ...JSON_TYPE, origin: 'null' } });
    expect(seen.status).toBe(403);
    expect(seen.text).toMatch(/^Origin of the request is not whitelisted/);
  });

  it.each([
    '/genesis.tar.bz2',
    '/snapshot.tar.bz2',
    '/incremental-snapshot.tar.bz2',
    '/snapshot-5-abc.tar.zst',
  ])('has no archive %s, as a node without one', async (path) => {
    expect(await send('', { method: 'GET', path })).toMatchObject({ status: 404, text: '' });
  });

  it.each([
    ['/health', 'ok'],
    ['/v0/total-supply', '500000000.012345'],
    ['/v0/circulating-supply', '499999997.512345'],
  ])('answers GET %s with the text %s', async (path, text) => {
    const seen = await send('', { method: 'GET', path });
    expect([seen.status, seen.text]).toEqual([200, text]);
  });
});

describe('the limits', () => {
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

  it('answers 408 to a head or a body that does not arrive in time', async () => {
    const [head, body] = await Promise.all([
      bodyOf('POST / HTTP/1.1\r\nhost: x\r\n'),
      bodyOf(
        'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"json',
      ),
    ]);
    expect(head).toMatch(/^HTTP\/1.1 408 /);
    expect(body).toMatch(/^HTTP\/1.1 408 /);
  });

  it('survives a client that goes away in the middle of its body', async () => {
    await bodyOf(
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{',
      true,
    );
    expect((await post(call('"id":1'))).status).toBe(200);
  });

  it('are options: body size and batch size', async () => {
    const small = await startLocalnetServer(node, {
      port: 0,
      log: createLogger('silent', () => {}),
      handlers,
      bodyMaxBytes: 200,
      batchMaxCalls: 1,
    });
    const to = (body: string) => send(body, { headers: JSON_TYPE, port: small.port });
    expect((await to(' '.repeat(201))).status).toBe(413);
    expect((await to(`[${call('"id":1')},${call('"id":2')}]`)).text).toBe(
      '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Batch too large; max 1"},"id":null}\n',
    );
    await small.close();
    await expect(to('{}')).rejects.toThrow();
  });

  it('refuse what is left of a batch whose answer has grown too large', async () => {
    const brief = await startLocalnetServer(node, {
      port: 0,
      log: createLogger('silent', () => {}),
      handlers,
      batchAnswerMaxChars: 50,
    });
    const three = [1, 2, 3].map((id) => call(`"id":${id}`)).join(',');
    const seen = await send(`[${three}]`, { headers: JSON_TYPE, port: brief.port });
    const full = '"error":{"code":-32603,"message":"Batch answer too large: ask for less at once"}';
    expect(seen.text).toBe(`[${ok('1')},${ok('2')},{"jsonrpc":"2.0",${full},"id":3}]\n`);
    await brief.close();
  });

  it('closes sockets above the number it takes', async () => {
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

describe('closing', () => {
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
    const answer = send('{"jsonrpc":"2.0","method":"waits","id":1}', {
      headers: { ...JSON_TYPE, connection: 'keep-alive' },
      port: closing.port,
    });
    await started.promise;
    return { closing, finish, answer };
  };

  it('lets a request under way finish and takes no new ones', async () => {
    const { closing, finish, answer } = await slowServer(600_000);
    const closed = closing.close();
    await expect(send('{}', { headers: JSON_TYPE, port: closing.port })).rejects.toThrow();
    finish.resolve('done');
    expect((await answer).text).toBe('{"jsonrpc":"2.0","result":"done","id":1}\n');
    await closed;
  }, 4_000);

  it('does not wait for ever', async () => {
    const { closing, answer } = await slowServer(50);
    const lost = expect(answer).rejects.toThrow();
    await closing.close();
    await lost;
  });
});
