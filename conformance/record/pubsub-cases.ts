import { subscriptions } from '../../src/protocol/subscriptions.ts';
import { type Frame, opcodes, textFrame } from './pubsub-socket.ts';

/**
 * A step sends one frame. A text may contain `$1`, the first subscription id that the case received, and so on.
 * `other` sends on a second connection.
 */
export type Step = string | Frame | Readonly<{ other: string }>;

/** Steps, each with what the server sends in response. */
export type ExchangeCase = Readonly<{
  name: string;
  steps: readonly Step[];
  /** Needs connections of its own, because it may end them or because ids matter across connections. */
  own: boolean;
}>;

const KEY = 'SysvarC1ock11111111111111111111111111111111';
const PROGRAM = 'Stake11111111111111111111111111111111111111';
const SIGNATURE = '5h6xBEauJ3PK6SWCZ1PGjBvj8vDdWG3KpwATGy1ARAXFSDwt8GFXM7W5Ncn16wmqokgpiKRLuS83KUxyZyv2sUYv';
const FAR_ID = '18446744073709551615';
/** Largest message that Agave accepts. */
const MESSAGE_MAX_BYTES = 4_096;
const CONTROL_MAX_BYTES = 125;

export const call = (method: string, params?: string, id = '1'): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}"${params === undefined ? '' : `,"params":${params}`}}`;

const one = (method: string, params?: string): ExchangeCase => ({
  name: params === undefined ? method : `${method} ${params}`,
  steps: [call(method, params)],
  own: false,
});
const each = (method: string, params: readonly (string | undefined)[]): ExchangeCase[] =>
  params.map((text) => one(method, text));

/** JSON values of each type. */
const VALUES = ['null', 'true', '5', '-1', '1.5', '"x"', '""', '[]', '["x"]', '{}', '{"x":1}'];
const BAD_KEYS = [
  '"not base58 0OIl"',
  '"1111"',
  '"111111111111111111111111111111111"',
  `"${KEY} "`,
  `"${'1'.repeat(45)}"`,
  `"${'z'.repeat(44)}"`,
];
const COMMITMENTS = [
  ...['processed', 'confirmed', 'finalized', 'recent', 'max', 'single', 'root', 'Confirmed', ''].map(
    (name) => `"${name}"`,
  ),
  ...['null', '5', '{}', '["confirmed"]', 'true'],
];
const ENCODINGS = [
  ...['binary', 'base58', 'base64', 'base64+zstd', 'jsonParsed', 'json', 'utf8', 'Base64', ''].map(
    (name) => `"${name}"`,
  ),
  ...['null', '5', '{}', '{"base64":null}', '{"base64":1}', '["base64"]'],
];
const SLICES = [
  '{"offset":0,"length":4}',
  '{"offset":18446744073709551615,"length":18446744073709551615}',
  '{"offset":18446744073709551616,"length":0}',
  '{"offset":-1,"length":4}',
  '{"offset":0.5,"length":4}',
  '{"offset":"0","length":4}',
  '{"offset":0}',
  '{"length":4}',
  '{"offset":0,"length":4,"more":1}',
  '[0,4]',
  '[0]',
  '[0,4,8]',
  ...['null', '5', '"x"', '{}', '[]'],
];
const U64S = ['0', '9', FAR_ID, '18446744073709551616', '-1', '1.0', '1e3', '"9"', 'null', '{}', '[]'];
const BOOLEANS = ['true', 'false', 'null', '0', '"true"', '{}', '[]'];

const members = (name: string, values: readonly string[]): string[] =>
  values.map((value) => `{"${name}":${value}}`);
const CONFIGS = [...VALUES, '{"commitment":"confirmed","commitment":"finalized"}', '[null,null]'];

/** Parameter lists that no subscription with parameters accepts. */
const wrongLists = (first: string): (string | undefined)[] => [
  undefined,
  'null',
  '[]',
  '{}',
  `{"0":${first}}`,
  '5',
  '"x"',
  'true',
  ...VALUES.filter((value) => value !== '"x"').map((value) => `[${value}]`),
  `[${first},null,null]`,
  `[${first},{},{}]`,
];

/** Options of accountSubscribe, which programSubscribe has too. */
const ACCOUNT_CONFIGS = [
  ...CONFIGS,
  ...members('commitment', COMMITMENTS),
  ...members('encoding', ENCODINGS),
  ...members('dataSlice', SLICES),
  ...members('minContextSlot', U64S),
];

const account = (): ExchangeCase[] => {
  return each('accountSubscribe', [
    ...wrongLists(`"${KEY}"`),
    ...BAD_KEYS.map((key) => `[${key}]`),
    `["${KEY}"]`,
    ...ACCOUNT_CONFIGS.map((config) => `["${KEY}",${config}]`),
    '["1111",{"encoding":"utf8"}]',
  ]);
};

const memcmp = (bytes: string, more = ''): string => `[{"memcmp":{"offset":0,"bytes":${bytes}${more}}}]`;
const dataSize = (count: number): string => `[${Array(count).fill('{"dataSize":1}').join(',')}]`;
const FILTERS = [
  ...VALUES,
  ...[1, 4, 5].map(dataSize),
  ...['18446744073709551615', '18446744073709551616', '-1', '1.5', '"1"', 'null', '{}'].map(
    (size) => `[{"dataSize":${size}}]`,
  ),
  '["tokenAccountState"]',
  '[{"tokenAccountState":null}]',
  '[{"tokenAccountState":{}}]',
  '["dataSize"]',
  '["memcmp"]',
  '[null]',
  '[5]',
  '[{}]',
  '[{"other":1}]',
  '[{"dataSize":1,"memcmp":{"offset":0,"bytes":"1"}}]',
  memcmp('"1"'),
  memcmp('""'),
  memcmp('"0"'),
  memcmp(`"${'1'.repeat(128)}"`),
  memcmp(`"${'1'.repeat(129)}"`),
  memcmp(`"${'z'.repeat(175)}"`),
  memcmp(`"${'z'.repeat(176)}"`),
  memcmp('"AQ=="', ',"encoding":"base64"'),
  memcmp('"AQ"', ',"encoding":"base64"'),
  memcmp('"?"', ',"encoding":"base64"'),
  memcmp(`"${'A'.repeat(172)}"`, ',"encoding":"base64"'),
  memcmp(`"${'A'.repeat(176)}"`, ',"encoding":"base64"'),
  memcmp('"1"', ',"encoding":"base58"'),
  memcmp('"1"', ',"encoding":"binary"'),
  memcmp('"1"', ',"encoding":"bytes"'),
  memcmp('"1"', ',"encoding":null'),
  memcmp('[1,2]'),
  memcmp('[1,256]'),
  memcmp('[1,2]', ',"encoding":"bytes"'),
  memcmp('5'),
  memcmp('null'),
  memcmp('"1"', ',"more":1'),
  '[{"memcmp":{"bytes":"1"}}]',
  '[{"memcmp":{"offset":0}}]',
  '[{"memcmp":{"offset":-1,"bytes":"1"}}]',
  '[{"memcmp":{"offset":"0","bytes":"1"}}]',
  '[{"memcmp":{"offset":18446744073709551615,"bytes":"1"}}]',
  '[{"memcmp":null}]',
  '[{"memcmp":[]}]',
  '[{"memcmp":[0,"1"]}]',
];

const program = (): ExchangeCase[] => {
  const configs = [
    ...ACCOUNT_CONFIGS,
    ...members('withContext', BOOLEANS),
    ...members('sortResults', BOOLEANS),
    ...members('filters', FILTERS),
  ];
  return each('programSubscribe', [
    ...wrongLists(`"${PROGRAM}"`),
    ...BAD_KEYS.map((key) => `[${key}]`),
    `["${PROGRAM}"]`,
    ...configs.map((config) => `["${PROGRAM}",${config}]`),
    `["1111",{"filters":${dataSize(5)}}]`,
  ]);
};

const logs = (): ExchangeCase[] => {
  const filters = [
    ...[
      '"all"',
      '"allWithVotes"',
      '"mentions"',
      '"All"',
      '{"all":null}',
      '{"all":[]}',
      '{"allWithVotes":{}}',
    ],
    ...['null', '5', '"x"', `["${KEY}"]`, `"${KEY}"`, `[["${KEY}"]]`, `["${KEY}",{}]`].map(
      (value) => `{"mentions":${value}}`,
    ),
    '{"mentions":[]}',
    `{"mentions":["${KEY}","${PROGRAM}"]}`,
    '{"mentions":[5]}',
    '{"mentions":[null]}',
    ...BAD_KEYS.map((key) => `{"mentions":[${key}]}`),
    `{"mentions":["${KEY}"],"all":null}`,
    `{"mention":["${KEY}"]}`,
  ];
  return each('logsSubscribe', [
    ...wrongLists('"all"'),
    ...filters.map((filter) => `[${filter}]`),
    ...[...CONFIGS, ...members('commitment', COMMITMENTS)].map((config) => `["all",${config}]`),
    '[{"mentions":[]},{"commitment":5}]',
  ]);
};

const signature = (): ExchangeCase[] => {
  const configs = [
    ...CONFIGS,
    ...members('commitment', COMMITMENTS),
    ...members('enableReceivedNotification', BOOLEANS),
  ];
  return each('signatureSubscribe', [
    ...wrongLists(`"${SIGNATURE}"`),
    ...[...BAD_KEYS, `"${KEY}"`, `"${'1'.repeat(64)}"`, `"${'z'.repeat(88)}"`].map((text) => `[${text}]`),
    `["${SIGNATURE}"]`,
    ...configs.map((config) => `["${SIGNATURE}",${config}]`),
  ]);
};

const block = (): ExchangeCase[] => {
  const filters = [
    ...['"all"', '"mentionsAccountOrProgram"', '"All"', '{"all":null}', '{"all":[]}'],
    ...[`"${KEY}"`, `["${KEY}"]`, 'null', '5', ...BAD_KEYS].map(
      (value) => `{"mentionsAccountOrProgram":${value}}`,
    ),
    `{"mentionsAccountOrProgram":"${KEY}","all":null}`,
    `{"mentions":"${KEY}"}`,
  ];
  const configs = [
    ...CONFIGS,
    ...members('commitment', COMMITMENTS),
    ...members('encoding', ENCODINGS),
    ...members('transactionDetails', [
      ...['full', 'accounts', 'signatures', 'none', 'Full', ''].map((name) => `"${name}"`),
      ...['null', '5', '{}', '{"full":null}'],
    ]),
    ...members('showRewards', BOOLEANS),
    ...members('maxSupportedTransactionVersion', [
      ...['0', '1', '127', '255', '256', '-1', '0.0', '"0"', '"legacy"', 'null', '{}'],
    ]),
  ];
  return each('blockSubscribe', [
    ...wrongLists('"all"'),
    ...filters.map((filter) => `[${filter}]`),
    ...configs.map((config) => `["all",${config}]`),
    `[{"mentionsAccountOrProgram":"1111"},{"commitment":"processed"}]`,
    `[{"mentionsAccountOrProgram":"1111"},{"encoding":"x"}]`,
  ]);
};

const PLAIN_KINDS = ['slot', 'slotsUpdates', 'root', 'vote'] as const;

const plain = (): ExchangeCase[] =>
  PLAIN_KINDS.flatMap((kind) =>
    each(subscriptions[kind].subscribe, [
      ...[undefined, 'null', '[]', '{}', '{"x":1}', '5', '"x"', '[null]', '[[]]', '[{}]', '[1,"x"]'],
      '[{"commitment":"confirmed"}]',
    ]),
  );

/** Parameters of each subscription that opens it. */
const OPENED: Readonly<Record<string, string | undefined>> = {
  account: `["${KEY}"]`,
  block: '["all"]',
  logs: '["all"]',
  program: `["${PROGRAM}"]`,
  root: undefined,
  signature: `["${SIGNATURE}"]`,
  slot: undefined,
  slotsUpdates: undefined,
  vote: undefined,
};
const KINDS = Object.keys(OPENED) as (keyof typeof subscriptions)[];

const subscribe = (kind: keyof typeof subscriptions): string =>
  call(subscriptions[kind].subscribe, OPENED[kind]);

const unsubscribe = (): ExchangeCase[] =>
  KINDS.flatMap((kind) => {
    const method = subscriptions[kind].unsubscribe;
    return [
      ...each(method, [
        ...[undefined, 'null', '[]', '{}', '5', ...VALUES.map((value) => `[${value}]`)],
        ...[FAR_ID, '18446744073709551616', '0.0', '1e0'].map((id) => `[${id}]`),
        '[1,2]',
      ]),
      {
        name: `${method} twice`,
        steps: [subscribe(kind), call(method, '[$1]'), call(method, '[$1]')],
        own: true,
      },
      {
        name: `${method} of another kind`,
        steps: [subscribe(kind === 'slot' ? 'root' : 'slot'), call(method, '[$1]')],
        own: true,
      },
      {
        name: `${method} of another connection`,
        steps: [{ other: subscribe(kind) }, call(method, '[$1]'), { other: call(method, '[$1]') }],
        own: true,
      },
    ];
  });

const ids = (): ExchangeCase[] => [
  ...KINDS.map((kind) => ({
    name: `${kind} subscribed twice`,
    steps: [
      subscribe(kind),
      subscribe(kind),
      { other: subscribe(kind) },
      call(subscriptions[kind].unsubscribe, '[$1]'),
      call(subscriptions[kind].unsubscribe, '[$1]'),
      { other: call(subscriptions[kind].unsubscribe, '[$1]') },
    ],
    own: true,
  })),
  {
    name: 'equal and distinct parameters',
    steps: [
      `["${KEY}"]`,
      `["${KEY}",{}]`,
      `["${KEY}",{"commitment":"finalized","encoding":"binary"}]`,
      `["${KEY}",{"commitment":"unknown"}]`,
      `["${KEY}",{"minContextSlot":9}]`,
      `["${KEY}",{"dataSlice":{"offset":0,"length":1}}]`,
      `["${KEY}",{"encoding":"base58"}]`,
      `["${KEY}",{"commitment":"confirmed"}]`,
    ].map((params) => call('accountSubscribe', params)),
    own: true,
  },
];

const text = (name: string, message: string, own = false): ExchangeCase => ({ name, steps: [message], own });
const invalid = call('slotUnsubscribe', `[${FAR_ID}]`);

const methods = (): ExchangeCase[] => [
  ...each('getVersion', ['[]', 'null', '{}', '[1]']),
  ...[
    'getSlot',
    'getBalance',
    'unknownMethod',
    'slotNotification',
    'constructor',
    'transactionSubscribe',
    'transactionUnsubscribe',
    'accountsubscribe',
    '',
  ].map((method) => one(method)),
];

const envelopes = (): ExchangeCase[] =>
  [
    '{}',
    'null',
    '5',
    '"x"',
    'true',
    '{"jsonrpc":"2.0","id":1}',
    `{"id":1,"method":"slotUnsubscribe","params":[${FAR_ID}]}`,
    `{"jsonrpc":"1.0","id":1,"method":"slotUnsubscribe","params":[${FAR_ID}]}`,
    `{"jsonrpc":2.0,"id":1,"method":"slotUnsubscribe","params":[${FAR_ID}]}`,
    `{"jsonrpc":null,"id":1,"method":"slotUnsubscribe","params":[${FAR_ID}]}`,
    `{"jsonrpc":"2.0","id":1,"method":"slotUnsubscribe","params":[${FAR_ID}],"more":1}`,
    `{"jsonrpc":"2.0","id":1,"method":5}`,
    `{"jsonrpc":"2.0","id":1,"method":null}`,
    `{"jsonrpc":"2.0","method":"slotUnsubscribe","params":[${FAR_ID}]}`,
    `{"jsonrpc":"2.0","method":"unknownMethod"}`,
    '{"jsonrpc":"2.0","result":1,"id":1}',
    ...[
      'null',
      '0',
      FAR_ID,
      '18446744073709551616',
      '-1',
      '1.5',
      '1.0',
      '1e2',
      '"x"',
      '""',
      '"\\u0041\\n"',
    ].map((id) => call('slotUnsubscribe', `[${FAR_ID}]`, id)),
    ...['true', '[]', '{}'].map((id) => call('slotUnsubscribe', `[${FAR_ID}]`, id)),
    '{"jsonrpc":"2.0","id":1,"id":2,"method":"getVersion"}',
    `{"jsonrpc":"2.0","id":1,"method":"slotUnsubscribe","method":"rootUnsubscribe","params":[${FAR_ID}]}`,
    '[]',
    '[1]',
    '[null]',
    '[[]]',
    '[{}]',
    `[${invalid}]`,
    `[${invalid},${call('rootUnsubscribe', '[]', '2')}]`,
    `[${invalid},{"jsonrpc":"2.0","method":"getVersion"},{},${invalid}]`,
    '[{"jsonrpc":"2.0","method":"getVersion"}]',
    `[${invalid},5]`,
    `[${invalid},]`,
    `[${subscribe('slot')},${subscribe('slot')},${subscribe('root')}]`,
    `[${Array(45).fill(invalid).join(',')}]`,
    ` \t\r\n${invalid}\n `,
    `\ufeff${invalid}`,
    `${invalid}${invalid}`,
    `${invalid}x`,
    invalid.slice(0, -1),
    '',
    ' ',
    '\u0000',
    '{"jsonrpc":"2.0","id":1,"method":"slot\\u0055nsubscribe","params":[18446744073709551615]}',
    `{'jsonrpc':'2.0','id':1,'method':'getVersion'}`,
    call('slotSubscribe', `${'['.repeat(126)}${']'.repeat(126)}`),
    call('slotSubscribe', `${'['.repeat(127)}${']'.repeat(127)}`),
    call('slotSubscribe', `${'['.repeat(128)}${']'.repeat(128)}`),
  ].map((message) =>
    text(`message ${message.length > 100 ? `${message.slice(0, 100)}…${message.length}` : message}`, message),
  );

const framed = (name: string, ...steps: readonly Step[]): ExchangeCase => ({
  name: `frame: ${name}`,
  steps,
  own: true,
});
const frame = (opcode: number, payload: Buffer | string = '', more: Partial<Frame> = {}): Frame => ({
  opcode,
  payload: Buffer.from(payload),
  ...more,
});
const closeFrame = (code: number, reason: string | Buffer = ''): Frame => {
  const payload = Buffer.concat([Buffer.alloc(2), Buffer.from(reason)]);
  payload.writeUInt16BE(code);
  return frame(opcodes.close, payload);
};
const NOT_UTF8 = Buffer.of(0xc3, 0x28);
const [head, tail] = [invalid.slice(0, 20), invalid.slice(20)];
const { continuation } = opcodes;

const frames = (): ExchangeCase[] => [
  framed('binary', frame(opcodes.binary, invalid)),
  framed('text that is not UTF-8', frame(opcodes.text, NOT_UTF8)),
  framed('binary that is not UTF-8', frame(opcodes.binary, NOT_UTF8)),
  framed('not UTF-8 inside a JSON string', frame(opcodes.text, Buffer.concat([Buffer.from('"'), NOT_UTF8]))),
  framed('two fragments', frame(opcodes.text, head, { fin: false }), frame(continuation, tail)),
  framed(
    'three fragments with a ping between',
    frame(opcodes.text, head, { fin: false }),
    frame(opcodes.ping, 'between'),
    frame(continuation, '', { fin: false }),
    frame(continuation, tail),
  ),
  framed('a continuation of nothing', frame(continuation, invalid)),
  framed('an open continuation of nothing', frame(continuation, invalid, { fin: false })),
  framed('a new text inside fragments', frame(opcodes.text, head, { fin: false }), textFrame(invalid)),
  framed(
    'new fragments inside fragments',
    frame(opcodes.text, head, { fin: false }),
    frame(opcodes.text, tail, { fin: false }),
  ),
  framed('without a mask', frame(opcodes.text, invalid, { masked: false })),
  ...[1, 2, 4].map((reserved) =>
    framed(`reserved bit ${reserved}`, frame(opcodes.text, invalid, { reserved })),
  ),
  ...[3, 7, 11, 15].map((opcode) => framed(`reserved opcode ${opcode}`, frame(opcode, invalid))),
  framed('an empty text', textFrame(''), textFrame(invalid)),
  framed('an empty binary', frame(opcodes.binary), textFrame(invalid)),
  framed('the longest message', textFrame(invalid.padEnd(MESSAGE_MAX_BYTES))),
  framed('a message that is too long', textFrame(invalid.padEnd(MESSAGE_MAX_BYTES + 1))),
  framed(
    'fragments that are too long together',
    frame(opcodes.text, invalid.padEnd(MESSAGE_MAX_BYTES - 96), { fin: false }),
    frame(continuation, ' '.repeat(97)),
  ),
  framed('a message of 64 KiB', textFrame(invalid.padEnd(65_536))),
  framed('a ping', frame(opcodes.ping), textFrame(invalid)),
  framed('the longest ping', frame(opcodes.ping, Buffer.alloc(CONTROL_MAX_BYTES, 'p'))),
  framed('a ping that is too long', frame(opcodes.ping, Buffer.alloc(CONTROL_MAX_BYTES + 1, 'p'))),
  framed('a fragmented ping', frame(opcodes.ping, 'p', { fin: false })),
  framed('a ping without a mask', frame(opcodes.ping, 'p', { masked: false })),
  framed('a pong that nobody requested', frame(opcodes.pong, 'p'), textFrame(invalid)),
  framed('close without a code', frame(opcodes.close)),
  framed('close with half a code', frame(opcodes.close, Buffer.of(3))),
  ...[1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 1015, 3000, 4999].map((code) =>
    framed(`close with ${code}`, closeFrame(code, 'bye')),
  ),
  ...[0, 999, 1004, 1005, 1006, 1016, 2999, 5000].map((code) =>
    framed(`close with the illegal code ${code}`, closeFrame(code)),
  ),
  framed('close with a reason that is not UTF-8', closeFrame(1000, NOT_UTF8)),
  framed('close inside fragments', frame(opcodes.text, head, { fin: false }), closeFrame(1000)),
];

/** All exchanges: messages and frames with the responses to them. Names are unique. */
export const exchangeCases = (): ExchangeCase[] => [
  ...account(),
  ...program(),
  ...logs(),
  ...signature(),
  ...block(),
  ...plain(),
  ...unsubscribe(),
  ...ids(),
  ...methods(),
  ...envelopes(),
  ...frames(),
];

/** An opening handshake: headers that replace those of a correct one; null leaves one out. */
export type HandshakeCase = Readonly<{
  name: string;
  requestLine?: string;
  headers: Readonly<Record<string, string | null>>;
}>;

export const handshakeCases: readonly HandshakeCase[] = [
  { name: 'correct', headers: {} },
  { name: 'any path and query', requestLine: 'GET /any/path?x=1 HTTP/1.1', headers: {} },
  { name: 'a subprotocol', headers: { 'sec-websocket-protocol': 'solana, other' } },
  {
    name: 'compression',
    headers: { 'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits' },
  },
  { name: 'an origin', headers: { origin: 'https://example.com' } },
  {
    name: 'header values in other cases',
    headers: { upgrade: 'WebSocket', connection: 'keep-alive, UPGRADE' },
  },
  { name: 'no upgrade', headers: { upgrade: null } },
  { name: 'another upgrade', headers: { upgrade: 'h2c' } },
  { name: 'no connection', headers: { connection: null } },
  { name: 'an ordinary request', headers: { upgrade: null, connection: null } },
  { name: 'no version', headers: { 'sec-websocket-version': null } },
  { name: 'version 8', headers: { 'sec-websocket-version': '8' } },
  { name: 'versions 13 and 8', headers: { 'sec-websocket-version': '13, 8' } },
  { name: 'no key', headers: { 'sec-websocket-key': null } },
  { name: 'a short key', headers: { 'sec-websocket-key': 'AAAA' } },
  { name: 'a key that is not base64', headers: { 'sec-websocket-key': '!!!!!!!!!!!!!!!!!!!!!!==' } },
  { name: 'no host', headers: { host: null } },
  { name: 'POST', requestLine: 'POST / HTTP/1.1', headers: {} },
  { name: 'HTTP/1.0', requestLine: 'GET / HTTP/1.0', headers: {} },
];
