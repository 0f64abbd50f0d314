import { connect } from 'node:net';
import { createLogger } from '../../src/base/log.ts';
import { Failure } from '../../src/protocol/errors.ts';
import type { Caller, Outcome, RequestHandler, RpcRequest } from '../../src/protocol/request-handler.ts';
import { FastHttpServer } from '../../src/servers/fast-path/server.ts';
import { HttpServer } from '../../src/servers/http/server.ts';
import { RpcCalls } from '../../src/servers/rpc/calls.ts';
import { rpcRoutes } from '../../src/servers/rpc/server.ts';
import { type HttpResponse, parseResponses } from '../servers/parse-responses.ts';

export const from = 'clients';
export const covers = [
  'http/llhttp.ts',
  'http/simple-header-parser.ts',
  'servers/caller.ts',
  'servers/fast-path/',
  'servers/http/decode.ts',
];

/** Answers what it was asked at once; "good" is the only key. */
const outcomeOf = ({ method, params, traceparent, client }: RpcRequest): Outcome => {
  const reported = JSON.stringify([method, traceparent, client.origin]);
  const body = Buffer.from(`{"told":${reported},"params":${params ?? 'null'}}`);
  return { response: { body, errorCode: 0 }, failure: null, rateLimit: null };
};
const admit = ({ credential }: Caller) =>
  credential === 'good' ? { startedAt: 0 } : new Failure('INVALID_KEY');
const behind: RequestHandler = {
  admit,
  dispatch: (request, replier) => {
    replier.respond(outcomeOf(request));
    return { cancel: () => {} };
  },
  recordInvalidRequest: ({ fault }) => ({ failure: fault, rateLimit: null }),
};

const log = createLogger('silent', () => {});
const limits = { headersMaxBytes: 2_048, headersTimeoutMs: 60_000, requestTimeoutMs: 60_000 };

async function listen(front: 'raw' | 'events' | null): Promise<number> {
  const calls = new RpcCalls(behind, { bodyMaxBytes: 600 });
  const bounds = { ...limits, headMaxBytes: 512, bodyMaxBytes: 300, sharesReads: front === 'raw' };
  const before = front === null ? null : new FastHttpServer(calls, log, bounds);
  const http = new HttpServer(rpcRoutes(calls), log, limits, [], new Map(), before);
  return (await http.listen()).port;
}

const [rawPort, eventsPort, plainPort] = await Promise.all([listen('raw'), listen('events'), listen(null)]);

const post = (body: string, ...lines: string[]): Buffer => {
  const fields = ['host: x', 'content-type: application/json', 'authorization: Bearer good', ...lines];
  return Buffer.from(
    `POST /v1/rpc HTTP/1.1\r\n${fields.join('\r\n')}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
};
const call = '{"jsonrpc":"2.0","id":1,"method":"getSlot","params":[1]}';
const changed = (from: string, to: string): Buffer => Buffer.from(post(call).toString().replace(from, to));

/** The first byte is the length of the pieces that a conversation comes in. */
export const seeds: readonly Uint8Array[] = [
  post(call),
  Buffer.concat([post(call), post(`[${call},${call}]`), post('{')]),
  post(call, 'connection: close', 'origin: https://a.example', 'traceparent: 00-1-2-01'),
  Buffer.concat([post(call), Buffer.from('GET /v1/rpc HTTP/1.1\r\nhost: x\r\n\r\n'), post(call)]),
  Buffer.from(
    changed(`content-length: ${call.length}`, 'transfer-encoding: chunked')
      .toString()
      .replace(call, `${call.length.toString(16)}\r\n${call}\r\n0\r\n\r\n`),
  ),
  changed('good', 'bad'),
  changed('/v1/rpc', '/v1/rpc?api-key=good'),
  changed('application/json', 'text/plain'),
  changed('HTTP/1.1', 'HTTP/1.0'),
  post(call, 'expect: 100-continue'),
  post(call, 'x: y', 'content-length: 3'),
  post(call, 'x: y', ' z'),
  post(' '.repeat(400)),
  post(' '.repeat(700)),
  post(call, `x: ${'y'.repeat(600)}`),
].flatMap((bytes) => [Buffer.of(255, ...bytes), Buffer.of(13, ...bytes)]);

/** Turns of the event loop in which nothing comes back before nothing more is waited for: all of it runs in this process. */
const SILENT_TURNS = 60;

/** All that comes back for bytes that come in pieces. Whatever is not closed by then is ended. */
function converse(port: number, pieces: readonly Uint8Array[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let received = '';
    let silent = 0;
    socket.setEncoding('latin1');
    socket.on('data', (text) => {
      received += text;
      silent = 0;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(received));
    const wait = (): void => {
      if (++silent > SILENT_TURNS) socket.end();
      else if (!socket.destroyed) setImmediate(wait);
    };
    const write = (at: number): void => {
      if (socket.destroyed) return;
      if (at < pieces.length) {
        socket.write(pieces[at] as Uint8Array);
        setImmediate(write, at + 1);
      } else wait();
    };
    socket.once('connect', () => write(0));
  });
}

/** What counts of an answer. Whether a connection is kept, is said in the last one only when it is known by then. */
const reported = ({ status, fields, body }: HttpResponse): unknown => {
  const { connection: _connection, 'keep-alive': _keepAlive, ...others } = fields;
  return [status, Object.entries(others).sort(), body];
};

/**
 * What is no request is told so only where every answer before it was given already, and that is a matter of time: so the
 * last refusal of a conversation counts only when it is the only answer.
 */
function answersOf(received: string): string[] {
  const answers = parseResponses(received);
  const last = answers.at(-1);
  const isLate = answers.length > 1 && (last?.status === 400 || last?.status === 431);
  return answers.slice(0, isLate ? -1 : undefined).map((answer) => JSON.stringify(reported(answer)));
}

/** How often a conversation is tried: an answer may be lost that comes before all was sent and closes the connection. */
const TRIES_MAX = 5;

/** Whoever speaks with the raw door hears what node:http would say. @returns whether anything was answered with 200. */
export async function fuzz(input: Uint8Array): Promise<boolean> {
  const length = (input[0] ?? 0) + 1;
  const bytes = input.subarray(1);
  const pieces = Array.from({ length: Math.ceil(bytes.length / length) }, (_, i) =>
    bytes.subarray(i * length, (i + 1) * length),
  );
  const ways: [number, readonly Uint8Array[]][] = [
    [rawPort, [bytes]],
    [rawPort, pieces],
    [eventsPort, pieces],
  ];
  const expected = new Set<string>();
  let odd: string[] = [];
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const plain = await Promise.all([[bytes], pieces].map((each) => converse(plainPort, each)));
    const raw = await Promise.all(ways.map((way) => converse(...way)));
    for (const each of plain) expected.add(answersOf(each).join('\n'));
    odd = raw.filter((each) => !expected.has(answersOf(each).join('\n')));
    if (odd.length === 0) return [...expected].some((answers) => answers.startsWith('[200'));
  }
  throw new Error(`node:http says\n${[...expected].join('\nor\n')}\nand the raw door\n${odd.join('\nor\n')}`);
}
