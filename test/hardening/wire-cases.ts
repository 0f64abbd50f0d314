/** Bytes that are no request, or that intermediaries may split differently. */

/** Head of a call without its content length. */
export const headOf = (key: string): string =>
  `POST /v1/rpc HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nauthorization: Bearer ${key}\r\n`;

/** Name and bytes: a call head with a malformed end, and a smuggled request. */
export type WireCase = readonly [string, (head: string, hidden: string) => string];

const length = (value: string): WireCase => [
  `the length ${JSON.stringify(value)}`,
  (head, hidden) => `${head}content-length:${value}\r\n\r\n${hidden}`,
];

const coded = (...values: string[]): WireCase => [
  `the transfer coding ${JSON.stringify(values.join(' and '))}`,
  (head, hidden) =>
    `${head}${values.map((value) => `transfer-encoding:${value}\r\n`).join('')}\r\n0\r\n\r\n${hidden}`,
];

const chunk = (name: string, text: string): WireCase => [
  `a chunk ${name}`,
  (head, hidden) => `${head}transfer-encoding: chunked\r\n\r\n${text}${hidden}`,
];

const line = (name: string, text: string): WireCase => [
  name,
  (head, hidden) => `${head}${text}\r\ncontent-length: 0\r\n\r\n${hidden}`,
];

const start = (name: string, text: string): WireCase => [
  name,
  (head, hidden) => `${head.replace('POST /v1/rpc HTTP/1.1', text)}content-length: 0\r\n\r\n${hidden}`,
];

const host = (value: string): WireCase => [
  `the host ${JSON.stringify(value)}`,
  (head, hidden) => `${head.replace('host: x', `host: ${value}`)}content-length: 0\r\n\r\n${hidden}`,
];

/** Each ends with one refusal and a closed connection. */
export const wireCases: readonly WireCase[] = [
  ...[
    ['a length, then chunks', 'content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['chunks, then a length', 'transfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n0\r\n\r\n'],
    ['two lengths', 'content-length: 0\r\ncontent-length: 7\r\n\r\n'],
  ].map(([name = '', rest]): WireCase => [name, (head, hidden) => head + rest + hidden]),
  ...['5, 5', ' +5', ' 0x5', ' ', ` ${2n ** 64n}`].map(length),
  coded(' xchunked'),
  coded(' chunked, identity'),
  coded(' gzip, chunked'),
  coded(' \x00chunked'),
  coded(' chunked', ' identity'),
  chunk('whose size is too large for any number', `${'f'.repeat(17)}\r\n`),
  chunk('that is longer than it says', '3\r\n12345\r\n0\r\n\r\n'),
  chunk('that ends with a bare line feed', '5\n12345\r\n0\r\n\r\n'),
  chunk('with an extension of 40 KB', `1;${'x'.repeat(40_000)}\r\na\r\n0\r\n\r\n`),
  line('a header that is folded over two lines', 'x-any: a\r\n content-length: 300'),
  line('a space before the colon', 'x-any : y'),
  line('a space before the colon of a length', 'content-length : 7'),
  line('a header without a colon', 'x-any'),
  line('a value with a NUL', 'x-any: a\x00b'),
  line('a value with a bare carriage return', 'x-any: a\rcontent-length: 7'),
  line('a value with a bare line feed', 'x-any: a\ncontent-length: 7'),
  start('another version', 'POST /v1/rpc HTTP/2.0'),
  start('chunks in HTTP/1.0', 'POST /v1/rpc HTTP/1.0\r\ntransfer-encoding: chunked'),
  start('no version', 'POST /v1/rpc'),
  start('a verb that nobody knows', 'FROBNICATE /v1/rpc HTTP/1.1'),
  start('a target with a NUL', 'POST /v1/rpc\x00 HTTP/1.1'),
  start('a target of no form', 'POST v1/rpc HTTP/1.1'),
  ...['x\r\nhost: y', 'a b', 'user@x', 'x/v1', 'x:y', '[::1'].map(host),
];
