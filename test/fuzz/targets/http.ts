import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, isIP } from 'node:net';
import { Readable } from 'node:stream';
import { CID } from 'multiformats/cid';
import { CidrSet, parseCidr, parseIpAddress } from '../../../src/base/ip-address.ts';
import { createLogger } from '../../../src/base/log.ts';
import {
  CSRF_HEADER,
  checkSameOrigin,
  resolvePublicOrigin,
} from '../../../src/control/accounts/same-origin.ts';
import { ApiError } from '../../../src/control/api/api-error.ts';
import {
  parseMetadata,
  sanitizeMetadata,
  serializeMetadata,
} from '../../../src/control/storage/file-store.ts';
import { mediaTypeOf } from '../../../src/control/storage/upload-spool.ts';
import { readTraceparent, TraceSampler } from '../../../src/gateway/telemetry/request-log.ts';
import { Failure } from '../../../src/protocol/errors.ts';
import { GrpcError } from '../../../src/protocol/grpc/status.ts';
import type { Caller, Outcome, RequestHandler, RpcRequest } from '../../../src/protocol/request-handler.ts';
import { sessionOf } from '../../../src/servers/caller.ts';
import { TrustedProxies } from '../../../src/servers/client-address.ts';
import { FastHttpServer } from '../../../src/servers/fast-path/server.ts';
import { decodeHead, isGrpc } from '../../../src/servers/grpc/decode.ts';
import { splitUrl } from '../../../src/servers/http/decode.ts';
import { HttpServer } from '../../../src/servers/http/server.ts';
import { canonicalCid, hasTag, rangeOf } from '../../../src/servers/ipfs/decode.ts';
import { restCredentialOf } from '../../../src/servers/rest/decode.ts';
import { readUpload } from '../../../src/servers/rest/multipart.ts';
import { RpcCalls } from '../../../src/servers/rpc/calls.ts';
import { rpcRoutes } from '../../../src/servers/rpc/server.ts';
import { type HttpResponse, parseResponses } from '../../servers/parse-responses.ts';
import { accepted, inPieces, type Target, texts } from '../engine/target.ts';

const outcomeOf = ({ method, params, traceparent, client }: RpcRequest): Outcome => {
  const received = JSON.stringify([method, traceparent, client.origin]);
  const body = Buffer.from(`{"request":${received},"params":${params ?? 'null'}}`);
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

/** Ends a connection after this many turns of the event loop without data; servers share this process. */
const SILENT_TURNS = 60;

/** Sends bytes in pieces. @returns everything received until the connection ends. */
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

/** The compared parts of a response; keep-alive fields depend on timing. */
const reported = ({ status, fields, body }: HttpResponse): unknown => {
  const { connection: _connection, 'keep-alive': _keepAlive, ...others } = fields;
  return [status, Object.entries(others).sort(), body];
};

/** Responses without a final rejection after others, which depends on timing. */
function answersOf(received: string): string[] {
  const answers = parseResponses(received);
  const last = answers.at(-1);
  const isLate = answers.length > 1 && (last?.status === 400 || last?.status === 431);
  return answers.slice(0, isLate ? -1 : undefined).map((answer) => JSON.stringify(reported(answer)));
}

/** Maximum attempts: a response that closes the connection before everything was sent may be lost. */
const TRIES_MAX = 5;

export const httpServersTarget: Target = {
  /** The first byte is the length of the pieces. */
  seeds: [
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
  ].flatMap((bytes) => [Buffer.of(255, ...bytes), Buffer.of(13, ...bytes)]),
  /** The fast path responds like node:http. @returns whether any response has status 200. */
  async fuzz(input: Uint8Array): Promise<boolean> {
    const length = (input[0] ?? 0) + 1;
    const bytes = input.subarray(1);
    const pieces = inPieces(bytes, length);
    const connections: [number, readonly Uint8Array[]][] = [
      [rawPort, [bytes]],
      [rawPort, pieces],
      [eventsPort, pieces],
    ];
    const expected = new Set<string>();
    let odd: string[] = [];
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const plain = await Promise.all([[bytes], pieces].map((each) => converse(plainPort, each)));
      const raw = await Promise.all(connections.map((connection) => converse(...connection)));
      for (const each of plain) expected.add(answersOf(each).join('\n'));
      odd = raw.filter((each) => !expected.has(answersOf(each).join('\n')));
      if (odd.length === 0) return [...expected].some((answers) => answers.startsWith('[200'));
    }
    throw new Error(
      `node:http says\n${[...expected].join('\nor\n')}\nand the fast path\n${odd.join('\nor\n')}`,
    );
  },
};

const sampler = new TraceSampler(0.5);

type Head = { url: string; headers: Record<string, string> };

function headIn(text: string): Head {
  const [url = '', ...lines] = text.split('\n');
  const headers: Record<string, string> = Object.create(null);
  for (const line of lines) {
    const colon = line.indexOf(':', 1);
    if (colon > 0) headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { url, headers };
}

function checkTrace(traceparent: string): void {
  const link = readTraceparent(traceparent);
  if (link !== null && !/^[0-9a-f]{32} [0-9a-f]{16}$/.test(`${link.traceId} ${link.parentId}`))
    throw new Error('accepted invalid ids');
  sampler.linkOf(traceparent);
}

function checkCredential({ url, headers }: Head): void {
  const { query } = splitUrl(url);
  const credential = restCredentialOf({ headers } as unknown as IncomingMessage, query);
  const given = [...Object.values(headers), ...new URLSearchParams(query).values()];
  if (credential !== null && !given.some((text) => text.includes(credential)))
    throw new Error('a key that was not sent');
}

export const requestHeadTarget: Target = {
  /** One line each for the request target and the fields. */
  seeds: texts([
    '/geyser.Geyser/Subscribe\nx-token: good\ngrpc-encoding: gzip\ngrpc-accept-encoding: identity, zstd,gzip\ngrpc-timeout: 20S',
    '/sol/v1/wallet/balance?api_key=k&network=devnet\nx-api-key: \nauthorization: bearer  good ',
    'http://host.example/v1/rpc?api-key=a%20b&api-key=c#d\ncontent-type: application/grpc+proto; a=b',
    '*\ntraceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    '?\ntraceparent: cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00-more\nx-solway-session: tab 7',
  ]),
  /** A head is refused, or its parts are used. @returns whether gRPC accepts it. */
  fuzz(input: Uint8Array): boolean {
    const head = headIn(Buffer.from(input).toString('latin1'));
    const { headers } = head;
    checkCredential(head);
    checkTrace(headers.traceparent ?? '');
    const session = sessionOf(headers['x-solway-session']);
    if (session !== null && (session === '' || session.length > 64)) throw new Error('an unbounded session');
    isGrpc(headers['content-type']);
    return accepted(() => {
      const { timeoutMs, accepted: encodings } = decodeHead(headers);
      if (timeoutMs !== null && !(timeoutMs >= 0 && timeoutMs < 1e15))
        throw new Error('an unbounded timeout');
      if (encodings.some((encoding) => !['gzip', 'zstd'].includes(encoding)))
        throw new Error('an unknown encoding');
    }, GrpcError);
  },
};

const body = (...lines: readonly string[]): string => lines.join('\r\n');
const disposition = 'content-disposition: form-data; name="file"';

const multipartLimits = {
  ...{
    fileMaxBytes: 2_000,
    overheadMaxBytes: 2_000,
    partsMax: 5,
    partHeadersMax: 5,
    partHeadersMaxBytes: 500,
  },
};

async function multipartOutcomeOf(
  bytes: Uint8Array,
  length: number,
): Promise<{ text: string; isWhole: boolean }> {
  const request = Object.assign(Readable.from(inPieces(bytes, length), { objectMode: false }), {
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  });
  const response = new EventEmitter();
  try {
    const file = await readUpload(
      request as unknown as IncomingMessage,
      response as ServerResponse,
      multipartLimits,
    );
    const read: Uint8Array[] = [];
    for await (const piece of file.bytes) read.push(piece);
    return { text: `${file.name} ${file.type} ${Buffer.concat(read).toString('hex')}`, isWhole: true };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { text: error.code, isWhole: false };
  } finally {
    response.emit('close');
    request.destroy();
  }
}

export const multipartTarget: Target = {
  /** Bodies with the boundary `b`. The first byte is the length of the pieces. */
  seeds: [
    body('--b', disposition, 'content-type: application/octet-stream', '', 'bytes\r\n\0\xff', '--b--', ''),
    body('--b', `${disposition}; filename="a.png"`, 'content-type: image/png', '', 'x', '--b--'),
    body('--b', disposition.replace('file', 'x'), '', 'y', '--b', disposition, '', 'z', '--b--', 'end'),
    body('before', '--b', `${disposition}; filename*=utf-8''%D0%B6`, '', '', '--b--', ''),
    body('--b', disposition, '', 'one', '--b', disposition, '', 'two', '--b--', ''),
    body('--b', disposition, '', 'no end'),
    body('', '--b-', '--b', disposition, '', '', '--b--'),
  ].map((text, index) => Buffer.concat([Buffer.of(index * 3), Buffer.from(text, 'latin1')])),
  /** Pieces do not change the outcome. @returns whether nothing was refused. */
  async fuzz(input: Uint8Array): Promise<boolean> {
    const [length = 0] = input;
    const bytes = input.subarray(1);
    const inOne = await multipartOutcomeOf(bytes, Math.max(1, bytes.length));
    const inPieces = await multipartOutcomeOf(bytes, length + 1);
    if (inOne.text !== inPieces.text) throw new Error(`pieces change ${inOne.text} into ${inPieces.text}`);
    return inOne.isWhole;
  },
};

const SIZE = 1_000;

export const ipfsRequestTarget: Target = {
  /** One line each for CID, range and tags. */
  seeds: texts([
    'bafkreifjjcie6lypi6ny7amxnfftagclbuxndqonfipmb64f2km2devei4\nbytes=0-4\n"a", W/"b"',
    'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG\nbytes=-5\n*',
    'zb2rhe5P4gXftAwvA4eXQ5HJwsER2owDyS9sKaQRRVQPn93bA\nbytes=999999999999999-\nW/"b"',
  ]),
  /** One canonical CID per file and ranges inside the file. @returns whether the CID is valid. */
  fuzz(bytes: Uint8Array): boolean {
    const [text = '', header, tags] = Buffer.from(bytes).toString('latin1').split('\n');
    const range = rangeOf(header, SIZE);
    if (range !== null && range !== 'unsatisfiable') {
      const { start, end } = range;
      if (!(start >= 0 && start < end && end <= SIZE)) throw new Error(`bytes ${start} to ${end} of ${SIZE}`);
    }
    hasTag(tags, '"b"');
    const cid = canonicalCid(text);
    if (cid === null) return false;
    if (canonicalCid(cid) !== cid || !CID.parse(cid).equals(CID.parse(cid).toV1()))
      throw new Error('the canonical CID is not canonical');
    return true;
  },
};

const PROXIES = ['10.0.0.0/8', '2001:db8:f::/48'];
const proxies = new TrustedProxies({ trustedProxies: PROXIES });
const ranges = new CidrSet(PROXIES);

export const forwardedForTarget: Target = {
  seeds: texts([
    '203.0.113.1, 10.0.0.2',
    '[2001:db8::1]:443,10.1.1.1:80',
    '::ffff:10.0.0.1,unknown',
    '2001:db8:f::9, 1.2.3.4',
    'fe80::1%eth0',
    '192.0.2.0/24',
  ]),
  /** The result is the address that the trusted proxy reports. */
  fuzz(bytes: Uint8Array): boolean {
    const text = Buffer.from(bytes).toString('latin1');
    const client = proxies.clientOf({ remoteAddress: '10.0.0.1' }, { 'x-forwarded-for': text });
    if (isIP(client.address) === 0) throw new Error(`${client.address} is no address`);
    if (client.ip?.text !== parseIpAddress(client.address)?.text)
      throw new Error('two addresses of a client');
    const last = text.slice(text.lastIndexOf(',') + 1).trim();
    const reported = parseIpAddress(last);
    // The last address is the client, whatever precedes it.
    if (reported !== null && !ranges.has(reported) && client.address !== reported.text) {
      throw new Error(`${client.address} in place of ${reported.text}`);
    }
    const stranger = proxies.clientOf({ remoteAddress: '203.0.113.9' }, { 'x-forwarded-for': text });
    if (stranger.address !== '203.0.113.9') throw new Error('an untrusted proxy was believed');
    if (parseCidr(text) !== null && new CidrSet([text]).size !== 1) throw new Error('a range was lost');
    return reported !== null;
  },
};

const PUBLIC = 'https://solway.example';
const FALLBACK = 'http://gateway.example:8899';

function requestOf(host: string, origin: string, site: string): Request {
  const headers = new Headers({ [CSRF_HEADER]: '1' });
  for (const [name, value] of Object.entries({ host, origin, 'sec-fetch-site': site }))
    if (value !== '') headers.set(name, value);
  return new Request('http://x/', { headers });
}

export const ownOriginTarget: Target = {
  /** One line each for host, origin and site. */
  seeds: texts([
    'solway.example\nhttps://solway.example\nsame-origin',
    '127.0.0.1:8899\nhttp://127.0.0.1:8899\nsame-origin',
    '[::1]:80\nhttp://[::1]\nsame-site',
    'a.localhost\nnull\n',
    'gateway.example:8899\nhttps://solway.example.evil.example\ncross-site',
  ]),
  /** Only the origin of the service is accepted, and links never lead to foreign hosts. */
  fuzz(bytes: Uint8Array): boolean {
    const [host = '', origin = '', site = ''] = Buffer.from(bytes).toString('latin1').split('\n');
    let request: Request;
    try {
      request = requestOf(host, origin, site);
    } catch {
      // Not a valid header.
      return false;
    }
    const link = new URL(resolvePublicOrigin(request.headers.get('host'), null, FALLBACK));
    const isOurs = link.origin === FALLBACK || /^(?:.*\.)?localhost$|^[\d.]+$|^\[/.test(link.hostname);
    if (!isOurs) throw new Error(`a link to ${link.host}`);
    const reported = request.headers.get('origin');
    const isAccepted = accepted(() => checkSameOrigin(request, PUBLIC), ApiError);
    if (isAccepted && reported !== null && reported !== PUBLIC) throw new Error('accepted a foreign origin');
    const isAcceptedHere = accepted(() => checkSameOrigin(request, null), ApiError);
    if (isAcceptedHere && reported !== null && URL.parse(reported)?.host !== request.headers.get('host'))
      throw new Error('accepted a page of another host');
    return isAccepted || isAcceptedHere;
  },
};

const isFit = (name: string | null, type: string): boolean =>
  (name === null || !/[\p{Cc}/\\]/u.test(name)) && /^[\x20-\x7e]+$/.test(type);

export const uploadFactsTarget: Target = {
  /** Serialized metadata, or name and type on two lines. */
  seeds: [
    serializeMetadata({ name: 'picture.png', type: 'image/png' }),
    serializeMetadata({ name: null, type: 'text/plain; charset=utf-8' }),
    'C:\\a\u202e/gnp.exe\nimage/svg+xml;a=b',
    '..\nx/y\r\nz: 1',
    '\x89PNG\r\n\x1a\n',
  ].map((text) => Buffer.from(text, 'latin1')),
  /** Stored metadata fits in a header and round-trips. */
  fuzz(bytes: Uint8Array): boolean {
    const text = Buffer.from(bytes).toString();
    const [name = '', type = ''] = text.split('\n');
    for (const about of [sanitizeMetadata({ name, type }), parseMetadata(text)]) {
      if (!isFit(about.name, about.type)) throw new Error('metadata unfit for a header');
      const again = parseMetadata(serializeMetadata(about));
      if (again.name !== about.name || again.type !== about.type)
        throw new Error('metadata changes in a round trip');
    }
    return mediaTypeOf(bytes) !== null || parseMetadata(text).name !== null;
  },
};
