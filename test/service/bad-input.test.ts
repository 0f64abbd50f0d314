import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateApiKey } from '../../src/gateway/auth/api-key.ts';
import { type Behaviour, type MockNode, send, sendError, startMock } from '../upstream/mock/server.ts';
import { eventually } from './eventually.ts';
import { keysCommand } from './keys-command.ts';
import { temporaryFolder } from './program.ts';
import { rawSocket } from './raw-socket.ts';
import { createRpcClient } from './rpc-client.ts';
import { type RunningService, startService } from './start-service.ts';

/** A node with two methods. */
const node: Behaviour = ({ id, method }, reply) => {
  if (method === 'getHealth') send(reply, `{"jsonrpc":"2.0","result":"ok","id":${id}}\n`);
  else if (method === 'getSlot') send(reply, `{"jsonrpc":"2.0","result":1000,"id":${id}}\n`);
  else sendError(reply, id, -32601, 'Method not found');
};

const KEY = /^svc_\w+_live_[1-9A-HJ-NP-Za-km-z]{46}$/;
const UPSTREAM_SECRET = 'node-secret-5f0c';
const folder = temporaryFolder('bad-input');
const logFile = join(folder, 'solway.log');
let mock: MockNode;
let service: RunningService;
const secrets = new Set<string>([UPSTREAM_SECRET]);
const answers: string[] = [];
const keys = { good: '', grpc: '', revoked: '', disabled: '', unknown: '', broken: '' };

async function makeKey(after: 'revoke' | 'disable'): Promise<string> {
  const { secret, key } = await keysCommand(service, 'create', '--name', `to ${after}`);
  await keysCommand(service, after, key.id);
  return secret;
}

beforeAll(async () => {
  mock = await startMock(node);
  service = await startService({
    // Every call must reach the node.
    configuration: `
      [cache]
      enabled = false
      coalesce = false
      slot_cache = false
      [server]
      batch_calls_max = 10
      request_timeout_ms = 800
      [internal.server]
      headers_timeout_ms = 400
      [[upstream]]
      url = "${mock.url}?api-key=${UPSTREAM_SECRET}"
      headers = { x-token = "${UPSTREAM_SECRET}" }
      [internal.keys]
      poll_interval_ms = 50
      [log]
      level = "trace"
      file = "${logFile}"
    `,
  });
  const { text: unknown } = generateApiKey('rpc');
  const good = service.key;
  const broken = `${good.slice(0, -1)}${good.endsWith('a') ? 'b' : 'a'}`;
  const grpc = service.ready.keys.find(({ product }) => product === 'grpc')!.key;
  const [revoked, disabled] = [await makeKey('revoke'), await makeKey('disable')];
  Object.assign(keys, { good, grpc, revoked, disabled, unknown, broken });
  for (const key of Object.values(keys)) secrets.add(key);
  for (const key of [revoked, disabled]) {
    const { call } = createRpcClient(service.ready.rpcUrl, key);
    await eventually(async () => (await call('getHealth')).status === 403, 'the key is refused');
  }
});
afterAll(async () => {
  await service?.stop();
  await mock?.close();
});

type Sent = Readonly<{
  body?: string | Uint8Array<ArrayBuffer>;
  verb?: string;
  path?: string;
  headers?: Record<string, string>;
}>;

const HEALTH = '{"jsonrpc":"2.0","id":7,"method":"getHealth"}';

async function sendRequest({ body = HEALTH, verb = 'POST', path = '/v1/rpc', headers }: Sent) {
  const response = await fetch(`${service.ready.url}${path}`, {
    method: verb,
    headers: headers ?? { 'content-type': 'application/json', authorization: `Bearer ${keys.good}` },
    ...(verb === 'GET' ? {} : { body }),
  });
  const text = await response.text();
  answers.push(JSON.stringify([...response.headers]), text);
  return { status: response.status, text, headers: response.headers };
}

const error = (id: string, code: number, message: string, data?: string): string =>
  `{"jsonrpc":"2.0","error":{"code":${code},"message":${JSON.stringify(message)}${data ? `,"data":${data}` : ''}},"id":${id}}\n`;

const PARSE_ERROR = error('null', -32700, 'Parse error');
const INVALID_REQUEST = error('7', -32600, 'Invalid request');
const call = (members: string): string => `{"jsonrpc":"2.0","method":"getHealth",${members}}`;
const ok = (id: string): string => `{"jsonrpc":"2.0","result":"ok","id":${id}}\n`;

describe('a body', () => {
  it.each<[string, string | Uint8Array<ArrayBuffer>, string]>([
    ['no JSON', `${HEALTH}// ok`, PARSE_ERROR],
    ['invalid UTF-8', Uint8Array.from(Buffer.from(call('"id":"\xff\xfe"'), 'latin1')), PARSE_ERROR],
    ['100000 open objects', '{"a":'.repeat(100_000), PARSE_ERROR],
    ['no method', '{"jsonrpc":"2.0","id":7}', INVALID_REQUEST],
    [
      'no version',
      '{"id":7,"method":"getHealth"}',
      '{"error":{"code":-32600,"message":"Unsupported JSON-RPC protocol version"},"id":7}\n',
    ],
    ['an object as params', call('"id":7,"params":{}'), error('7', -32602, '`params` should be an array')],
    ['__proto__ as a member', call('"id":7,"__proto__":{"method":"x"}'), INVALID_REQUEST],
    ['the greatest u64 as id', call('"id":18446744073709551615'), ok('18446744073709551615')],
    ['an id that is too large', call(`"id":${'9'.repeat(100_000)}`), PARSE_ERROR],
    ['a long id', call(`"id":"${'x'.repeat(500_000)}"`), error('null', -32600, 'Invalid request')],
    ['no id', '{"jsonrpc":"2.0","method":"getHealth"}', ''],
    [
      'an unknown method',
      '{"jsonrpc":"2.0","id":7,"method":"__proto__"}',
      error('7', -32601, 'Method not found'),
    ],
    ['a batch of something else', `[${HEALTH},7]`, PARSE_ERROR],
    ['a batch', `[${HEALTH},{}]`, `[${ok('7').trim()},${error('null', -32600, 'Invalid request').trim()}]\n`],
  ])('with %s has its own response', async (_name, body, expected) => {
    const { status, text } = await sendRequest({ body });
    expect([status, text]).toEqual([200, expected]);
  });
});

const keyError = (code: number, message: string, name: string): string =>
  error('null', code, message, `{"code":"${name}"}`);
const MISSING = keyError(
  -32040,
  'No API key: send it as "Authorization: Bearer <API_KEY>" or as the query parameter "api-key"',
  'MISSING_KEY',
);
const INVALID = keyError(-32041, 'The API key is invalid, inactive or expired', 'INVALID_KEY');
const PRODUCT = keyError(-32042, 'The API key belongs to a different product', 'UNAUTHORIZED_PRODUCT');
const json = { 'content-type': 'application/json' };
const bearer = (key: string): Sent => {
  secrets.add(key);
  return { headers: { ...json, authorization: `Bearer ${key}` } };
};
const inQuery = (key: string): Sent => {
  secrets.add(key);
  return { headers: json, path: `/v1/rpc?api-key=${key}` };
};

describe('a key', () => {
  it.each<[string, () => Sent, number, string]>([
    ['not there', () => ({ headers: json }), 401, MISSING],
    ['of another scheme', () => ({ headers: { ...json, authorization: 'Basic dTpw' } }), 401, MISSING],
    ['unknown but well formed', () => bearer(keys.unknown), 403, INVALID],
    ['with a broken checksum', () => bearer(keys.broken), 403, INVALID],
    ['8000 characters long', () => bearer('k'.repeat(8_000)), 403, INVALID],
    ['revoked', () => bearer(keys.revoked), 403, INVALID],
    ['disabled', () => bearer(keys.disabled), 403, INVALID],
    ['of another product', () => bearer(keys.grpc), 403, PRODUCT],
    ['good', () => bearer(keys.good), 200, ok('7')],
    ['good, in the query', () => inQuery(keys.good), 200, ok('7')],
  ])('that is %s has its own error', async (_name, sent, status, expected) => {
    const answer = await sendRequest(sent());
    expect([answer.status, answer.text]).toEqual([status, expected]);
  });
});

const refusal = (code: number, message: string, data: string): string => error('null', code, message, data);
const MEDIA = refusal(
  -32046,
  'Send the header "Content-Type: application/json"',
  '{"code":"UNSUPPORTED_MEDIA_TYPE"}',
);
const VERB = refusal(-32048, 'HTTP method not allowed for this path', '{"code":"METHOD_NOT_ALLOWED"}');
const PATH = refusal(
  -32047,
  'No such path',
  '{"code":"NOT_FOUND","paths":"/v1/rpc, /v1/ws, /sol/v1/…, /sol/v2/…, /ipfs/*, /openapi.json, /docs, /api/**, /health, /ready"}',
);
const LARGE = refusal(
  -32044,
  'The request body is larger than this service accepts',
  '{"code":"BODY_TOO_LARGE","bodyMaxBytes":1048576}',
);

describe('an HTTP request', () => {
  const withType = (type: string): Sent => ({
    headers: { 'content-type': type, authorization: `Bearer ${keys.good}` },
  });

  it.each<[string, () => Sent, number, string]>([
    ['text/plain', () => withType('text/plain'), 415, MEDIA],
    ['GET', () => ({ verb: 'GET' }), 405, VERB],
    ['an unknown path', () => ({ path: '/v1/nothing' }), 404, PATH],
    ['10 MB with Content-Length', () => ({ body: `"${'x'.repeat(10_000_000)}"` }), 413, LARGE],
  ])('with %s has its own error', async (_name, sent, status, expected) => {
    const answer = await sendRequest(sent());
    expect([answer.status, answer.text]).toEqual([status, expected]);
    if (status === 405) expect(answer.headers.get('allow')).toBe('POST, OPTIONS');
  });

  it('with too many calls in its batch is refused as a whole', async () => {
    const { status, text } = await sendRequest({ body: `[${Array(11).fill(HEALTH).join(',')}]` });
    const data = '{"code":"BATCH_TOO_LARGE","batchMax":10}';
    const message = 'The batch has more calls than this service accepts: send fewer per batch';
    expect([status, text]).toEqual([200, refusal(-32045, message, data)]);
  });
});

const head = (...lines: string[]): string =>
  [
    'POST /v1/rpc HTTP/1.1',
    'host: localhost',
    'content-type: application/json',
    `authorization: Bearer ${keys.good}`,
    ...lines,
    '',
    '',
  ].join('\r\n');

/** Sends bytes until the connection ends. @returns status and body. */
async function converse(...pieces: readonly (string | Uint8Array)[]): Promise<[number, string]> {
  const { write, closed } = await rawSocket(service.ready.url);
  for (const piece of pieces) write(piece);
  const text = await closed;
  answers.push(text);
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
  return [status, /^\{.*\n/m.exec(text)?.[0] ?? ''];
}

const LATE = refusal(
  -32049,
  'Request timeout: the request did not arrive completely in time',
  '{"code":"REQUEST_TIMEOUT"}',
);
const MALFORMED = refusal(-32057, 'The HTTP request is malformed', '{"code":"MALFORMED_HTTP"}');

describe('bytes on a socket', () => {
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  const twice = ['content-length: 5', 'transfer-encoding: chunked'];

  it.each<[string, () => string[], number, string]>([
    [
      '10 MB in chunks',
      () => [head('transfer-encoding: chunked'), ...Array(160).fill(chunk), '0\r\n\r\n'],
      413,
      LARGE,
    ],
    [
      '10 MB that are only announced',
      () => [head('content-length: 10000000', 'expect: 100-continue')],
      413,
      LARGE,
    ],
    ['half a body', () => [head('content-length: 45'), HEALTH.slice(0, 20)], 408, LATE],
    ['half the headers', () => ['POST /v1/rpc HTTP/1.1\r\nhost: localhost\r\ncont'], 408, LATE],
    ['no HTTP', () => ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'], 400, MALFORMED],
    ['two lengths at once', () => [head(...twice), '0\r\n\r\n'], 400, MALFORMED],
    [
      'headers of 20 KB',
      () => [head(`x-long: ${'x'.repeat(20_000)}`)],
      431,
      refusal(
        -32058,
        'The HTTP headers are larger than this service accepts',
        '{"code":"HEADERS_TOO_LARGE"}',
      ),
    ],
  ])('that are %s have their own error, and an end', async (_name, pieces, status, expected) => {
    expect(await converse(...pieces())).toEqual([status, expected]);
  });

  it.each(['/ipfs/x', '/sol/v1/wallet/balance'])('that are malformed have the error of %s', async (path) => {
    const wire = await rawSocket(service.ready.url);
    wire.write(`GET ${path} HTTP/1.1\r\n\r\n`);
    const [, body = ''] = (await wire.closed).split('\r\n\r\n');
    expect(JSON.parse(body)).toMatchObject({ success: false, error: { code: 'MALFORMED_HTTP' } });
  });

  it('of a client that disconnects midway do not affect others', async () => {
    for (const rest of ['', '{"jsonrpc":"2.0",', HEALTH]) {
      const { socket, write, closed } = await rawSocket(service.ready.url);
      write(head('content-length: 45') + rest);
      socket.resetAndDestroy();
      await closed;
    }
    expect((await sendRequest({})).text).toBe(ok('7'));
  });
});

describe('afterwards', () => {
  it('the service still answers and has logged no errors', async () => {
    expect(await createRpcClient(service.ready.rpcUrl, keys.good).result('getHealth')).toBe('ok');
    expect(service.process.exitCode).toBeNull();
    const log = readFileSync(logFile, 'utf8');
    expect(log).toContain('"msg":"Ready"');
    expect(log.match(/"level":(?:50|60).*/g)).toBeNull();
  });

  it('no key and no secret is in output, log, responses or upstream requests', async () => {
    await service.stop();
    const written = service.output().replace(/^\{"event":"ready".*\n/, '');
    const log = readFileSync(logFile, 'utf8');
    const sent = JSON.stringify([mock.received, mock.polls]).replaceAll(UPSTREAM_SECRET, '');
    // The secret part of a key counts too.
    const pieces = [...secrets].flatMap((secret) =>
      KEY.test(secret) ? [secret, secret.slice(-38)] : [secret],
    );
    const places = { written, log, sent, answered: answers.join('\n') };
    expect(log).toContain('"msg":"Stopped"');
    expect(mock.received.length).toBeGreaterThan(5);
    expect(secrets.size).toBeGreaterThan(7);
    for (const [place, text] of Object.entries(places)) {
      const found = pieces.filter((piece) => text.includes(piece));
      expect(found, place).toEqual([]);
    }
  });
});
