import { type HttpRequest, post, type RecordedCase } from './recorded-case.ts';

const BODY = '{"jsonrpc":"2.0","id":1,"method":"getGenesisHash"}';

/** A body as it is. */
const envelope = (label: string, body: string): RecordedCase => ({
  ...{ name: `envelope: ${label}`, method: 'envelope', request: () => post(body) },
});

const ids: Readonly<Record<string, string>> = {
  ...{
    zero: '0',
    'a number': '7',
    'a large number': '9007199254740993',
    'the largest u64': '18446744073709551615',
  },
  ...{
    'beyond u64': '18446744073709551616',
    'a negative number': '-1',
    'a fraction': '1.5',
    'an exponent': '1e3',
  },
  ...{
    'a text': '"a"',
    'an empty text': '""',
    'an escaped text': '"\\u0041\\n\\u00e9é"',
    'a long text': `"${'x'.repeat(300)}"`,
  },
  ...{
    null: 'null',
    true: 'true',
    false: 'false',
    'a list': '[1]',
    'an object': '{"a":1}',
    'a surrogate': '"\\ud800"',
  },
};

const removed = [
  ...['confirmTransaction', 'getConfirmedBlock', 'getConfirmedBlocks', 'getConfirmedBlocksWithLimit'],
  ...[
    'getConfirmedSignaturesForAddress2',
    'getConfirmedTransaction',
    'getFees',
    'getFeeCalculatorForBlockhash',
  ],
  ...['getFeeRateGovernor', 'getRecentBlockhash', 'getSignatureConfirmation', 'getSignatureStatus'],
  ...['getSnapshotSlot', 'getStakeActivation', 'getRankMap', 'getAgGenesisCert', 'getTransactionsForAddress'],
  ...[
    'setLogFilter',
    'exit',
    'validatorExit',
    'slotSubscribe',
    'accountSubscribe',
    'rpc.discover',
    'getslot',
    '',
  ],
  ...['constructor', '__proto__', 'toString', 'getSlot ', 'x'.repeat(200)],
];

const malformed: Readonly<Record<string, string>> = {
  empty: '',
  blank: '   ',
  'no JSON': 'hello',
  'a number': '5',
  'a text': '"x"',
  null: 'null',
  true: 'true',
  unfinished: '{"jsonrpc":"2.0","id":1,"method":',
  'trailing comma': '{"jsonrpc":"2.0","id":1,"method":"getSlot",}',
  'trailing text': `${BODY} x`,
  'leading blanks': `  \n${BODY}\n `,
  'two bodies': `${BODY}${BODY}`,
  'single quotes': "{'jsonrpc':'2.0','id':1,'method':'getGenesisHash'}",
  'an empty object': '{}',
  'without id': '{"jsonrpc":"2.0","method":"getGenesisHash"}',
  'without method': '{"jsonrpc":"2.0","id":1}',
  'without version': '{"id":1,"method":"getGenesisHash"}',
  'without version and id': '{"method":"getGenesisHash"}',
  'version 1.0': '{"jsonrpc":"1.0","id":1,"method":"getGenesisHash"}',
  'a version number': '{"jsonrpc":2.0,"id":1,"method":"getGenesisHash"}',
  'a null version': '{"jsonrpc":null,"id":1,"method":"getGenesisHash"}',
  'a method number': '{"jsonrpc":"2.0","id":1,"method":5}',
  'a null method': '{"jsonrpc":"2.0","id":1,"method":null}',
  'an unknown member': '{"jsonrpc":"2.0","id":1,"method":"getGenesisHash","color":"red"}',
  'a response': '{"jsonrpc":"2.0","id":1,"result":"x"}',
  'an error': '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}',
  'id twice': '{"jsonrpc":"2.0","id":1,"id":2,"method":"getGenesisHash"}',
  'method twice': '{"jsonrpc":"2.0","id":1,"method":"getSlot","method":"getGenesisHash"}',
  'an escaped method': '{"jsonrpc":"2.0","id":1,"method":"getGenesis\\u0048ash"}',
  'members in another order': '{"method":"getGenesisHash","params":[],"id":1,"jsonrpc":"2.0"}',
  'a byte order mark': `\ufeff${BODY}`,
  'a notification of an unknown method': '{"jsonrpc":"2.0","method":"color"}',
  'NaN as id': '{"jsonrpc":"2.0","id":NaN,"method":"getGenesisHash"}',
  'a control character': '{"jsonrpc":"2.0","id":"a\u0001","method":"getGenesisHash"}',
  'deep nesting': `{"jsonrpc":"2.0","id":1,"method":"getGenesisHash","params":${'['.repeat(200)}${']'.repeat(200)}}`,
  'a boolean params': '{"jsonrpc":"2.0","id":1,"method":"getGenesisHash","params":true}',
};

const NOTIFICATION = '{"jsonrpc":"2.0","method":"getGenesisHash"}';
const UNKNOWN = '{"jsonrpc":"2.0","id":2,"method":"color"}';
const batches: Readonly<Record<string, string>> = {
  empty: '[]',
  'of one': `[${BODY}]`,
  'of two': `[${BODY},${UNKNOWN}]`,
  'of equal ids': `[${BODY},${BODY}]`,
  'of numbers': '[1,2]',
  'of null': '[null]',
  'of an empty object': '[{}]',
  'of a list': `[[${BODY}]]`,
  'of an empty list': '[[]]',
  'of notifications': `[${NOTIFICATION},${NOTIFICATION}]`,
  'of a call and a notification': `[${BODY},${NOTIFICATION}]`,
  'of a call and a number': `[${BODY},1]`,
  'of a wrong id': `[${BODY},{"jsonrpc":"2.0","id":-1,"method":"getSlot"}]`,
  'of a missing version': `[${BODY},{"id":3,"method":"getGenesisHash"}]`,
  'of 100': `[${Array(100).fill(BODY).join(',')}]`,
  unfinished: `[${BODY}`,
  'trailing comma': `[${BODY},]`,
};

const http = (label: string, request: Partial<HttpRequest>): RecordedCase => ({
  name: `http: ${label}`,
  method: 'http',
  request: () => ({ ...post(BODY), ...request }),
});

const types = [
  ...[
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=utf-8',
    'APPLICATION/JSON',
  ],
  ...[
    'application/json; charset=UTF-8',
    'application/json; charset=latin1',
    'application/json;',
    'text/plain',
  ],
  ...[
    'application/json-rpc',
    'application/x-www-form-urlencoded',
    'text/json',
    'application/json, text/plain',
    '',
  ],
];

const JSON_TYPE = { 'content-type': 'application/json' };
const cors = (headers: Record<string, string>) => ({ ...JSON_TYPE, ...headers });

const httpCases: readonly RecordedCase[] = [
  ...types.map((type) => http(`content type "${type}"`, { headers: { 'content-type': type } })),
  http('no content type', { headers: {} }),
  ...['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'].flatMap((verb) => [
    http(`${verb} /`, { verb, body: '', headers: {} }),
    http(`${verb} / with an origin`, { verb, body: '', headers: { origin: 'https://example.com' } }),
  ]),
  ...[
    '/health',
    '/v0/total-supply',
    '/v0/circulating-supply',
    '/genesis.tar.bz2',
    '/unknown',
    '/health?a=1',
  ].flatMap((path) => [
    http(`GET ${path}`, { verb: 'GET', path, body: '', headers: {} }),
    http(`POST ${path}`, { path }),
  ]),
  http('an origin', { headers: cors({ origin: 'https://example.com' }) }),
  http('a null origin', { headers: cors({ origin: 'null' }) }),
  http('a preflight', {
    ...{ verb: 'OPTIONS', body: '' },
    headers: {
      ...{ origin: 'https://example.com', 'access-control-request-method': 'POST' },
      'access-control-request-headers': 'content-type, solana-client',
    },
  }),
  http('a preflight of GET', {
    ...{ verb: 'OPTIONS', body: '' },
    headers: { origin: 'https://example.com', 'access-control-request-method': 'GET' },
  }),
  http('accept text', { headers: cors({ accept: 'text/plain' }) }),
  http('accept gzip', { headers: cors({ 'accept-encoding': 'gzip' }) }),
  http('authorization', { headers: cors({ authorization: 'Basic eDp5' }) }),
  http('x-bigtable disabled', { headers: cors({ 'x-bigtable': 'disabled' }) }),
  http('a body of 51200 bytes', { body: BODY.padEnd(51_200) }),
  http('a body of 51201 bytes', { body: BODY.padEnd(51_201) }),
];

/** Bodies, batches and HTTP. */
export const transportCases: readonly RecordedCase[] = [
  ...Object.entries(ids).flatMap(([label, id]) => [
    envelope(`id is ${label}`, `{"jsonrpc":"2.0","id":${id},"method":"getGenesisHash"}`),
    envelope(`id is ${label}, method unknown`, `{"jsonrpc":"2.0","id":${id},"method":"color"}`),
  ]),
  ...removed.map((method) => ({
    ...envelope(`method "${method.slice(0, 40)}"`, JSON.stringify({ jsonrpc: '2.0', id: 1, method })),
  })),
  ...Object.entries(malformed).map(([label, body]) => envelope(label, body)),
  ...Object.entries(batches).map(([label, body]) => envelope(`batch ${label}`, body)),
  ...httpCases,
];
