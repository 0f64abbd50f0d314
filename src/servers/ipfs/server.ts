import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { PerKeySemaphore } from '../../base/concurrency/per-key-semaphore.ts';
import { Failure } from '../../protocol/errors.ts';
import { securityHeaders } from '../../protocol/security-headers.ts';
import { preflightHeaders, rejectRequest } from '../http/encode.ts';
import { type HttpHandler, type HttpRoutes, preflightHandler } from '../http/routes.ts';
import { errorBody } from '../rest/encode.ts';
import { canonicalCid, hasTag, type Range, rangeOf } from './decode.ts';
import { commonHeaders, contentTypeOf, dispositionOf, IMMUTABLE_CACHE, sendPaced } from './encode.ts';

/** An open file; the caller must close it. */
export type ReadableFile = Readonly<{
  name: string | null;
  /** Media type, safe to send in a header. */
  type: string;
  bytes: number;
  /** @param end - exclusive. */
  read(start: number, end: number): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}>;

export interface FileReader {
  /** @param cid - version 1, lower-case base32. @returns null for an unknown file. */
  open(cid: string): Promise<ReadableFile | null>;
}

export const ipfsServerOptions = {
  openMax: 512,
  /** Concurrent requests per client address; clients behind a proxy share one address. */
  openPerAddressMax: 32,
  responseMaxMs: 60 * 60_000,
  progressMs: 60_000,
  progressMinBytes: 64 * 1024,
};

export type IpfsServerOptions = Readonly<typeof ipfsServerOptions>;

/** Path prefix of files; failures under this prefix use the REST envelope. */
export const IPFS_PREFIX = '/ipfs/';

const preflight: OutgoingHttpHeaders = {
  ...securityHeaders.file,
  ...preflightHeaders('GET, HEAD, OPTIONS', 'range, if-range, if-none-match'),
};

const CANONICAL = /^b[a-z2-7]{58}$/;

/** Serves GET and HEAD for /ipfs/<cid>, without a key. @param blocks - serves `?format=raw`; null disables it. */
export function ipfsRoutes(
  files: FileReader,
  options: Partial<IpfsServerOptions> = {},
  blocks: FileReader | null = null,
): HttpRoutes {
  const allOptions = { ...ipfsServerOptions, ...options };
  const openFiles = new PerKeySemaphore({
    permitsMax: allOptions.openMax,
    keyPermitsMax: allOptions.openPerAddressMax,
    ...{ waitingMax: 0, keyWaitingMax: 0, waitMs: null },
  });
  const get: HttpHandler = async (request, response, query, path) => {
    const text = path.slice(IPFS_PREFIX.length);
    const cid = CANONICAL.test(text) ? text : canonicalCid(text);
    if (cid !== null && cid !== text) {
      redirect(response, cid);
      return;
    }
    const address = request.socket.remoteAddress ?? '';
    if (!(await openFiles.acquire(address))) {
      fail(response, new Failure('OVERLOADED'));
      return;
    }
    const isRaw = new URLSearchParams(query).get('format') === 'raw';
    await sendFile(response, cid, isRaw ? asBlocks(blocks) : asFiles(files), allOptions).finally(() =>
      openFiles.release(address),
    );
  };
  const verbs = new Map([
    ['GET', get],
    ['HEAD', get],
    ['OPTIONS', preflightHandler(preflight)],
  ]);
  return new Map([[`${IPFS_PREFIX}*`, verbs]]);
}

type FileView = FileReader & Readonly<{ tagOf(cid: string): string }>;

const asFiles = (files: FileReader): FileView => ({
  open: (cid) => files.open(cid),
  tagOf: (cid) => `"${cid}"`,
});

/** Source: IPFS Trustless Gateway, `format=raw`, `Etag`. */
const asBlocks = (blocks: FileReader | null): FileView => ({
  async open(cid) {
    const block = (await blocks?.open(cid)) ?? null;
    return block && { ...block, name: `${cid}.bin`, type: 'application/vnd.ipld.raw' };
  },
  tagOf: (cid) => `"${cid}.raw"`,
});

type FileIdentity = Readonly<{ cid: string; tag: string }>;

async function sendFile(
  response: ServerResponse,
  cid: string | null,
  view: FileView,
  options: IpfsServerOptions,
): Promise<void> {
  let file: ReadableFile | null;
  try {
    file = cid === null ? null : await view.open(cid);
  } catch (cause) {
    fail(response, new Failure('STORAGE_UNAVAILABLE', { cause }));
    return;
  }
  if (file === null || cid === null) {
    fail(response, new Failure('FILE_NOT_FOUND'));
    return;
  }
  try {
    await sendOpenFile(response, file, { cid, tag: view.tagOf(cid) }, options);
  } finally {
    await file.close();
  }
}

/** Closes the connection if the client is too slow or disconnects, or if a read fails. */
async function sendOpenFile(
  response: ServerResponse,
  file: ReadableFile,
  identity: FileIdentity,
  options: IpfsServerOptions,
): Promise<void> {
  const { method, headers } = response.req;
  const { tag } = identity;
  if (hasTag(headers['if-none-match'], tag)) {
    response.writeHead(304, { ...commonHeaders, etag: tag, 'cache-control': IMMUTABLE_CACHE });
    response.end();
    return;
  }
  const isRanged = method === 'GET' && (headers['if-range'] ?? tag) === tag;
  const range = isRanged ? rangeOf(headers.range, file.bytes) : null;
  if (range === 'unsatisfiable') {
    const contentRange = `bytes */${file.bytes}`;
    response.writeHead(416, { ...commonHeaders, 'content-range': contentRange, 'content-length': 0 });
    response.end();
    return;
  }
  response.writeHead(range === null ? 200 : 206, fileHeaders(file, identity, range));
  if (method === 'HEAD') {
    response.end();
    return;
  }
  const { start, end } = range ?? { start: 0, end: file.bytes };
  await sendPaced(file.read(start, end), response, options).catch(() => response.destroy());
}

function fileHeaders(
  file: ReadableFile,
  { cid, tag }: FileIdentity,
  range: Range | null,
): OutgoingHttpHeaders {
  const { start, end } = range ?? { start: 0, end: file.bytes };
  const headers: OutgoingHttpHeaders = {
    ...commonHeaders,
    'accept-ranges': 'bytes',
    'cache-control': IMMUTABLE_CACHE,
    'content-disposition': dispositionOf(file.type, file.name, cid),
    'content-length': end - start,
    'content-type': contentTypeOf(file.type),
    etag: tag,
  };
  if (range !== null) headers['content-range'] = `bytes ${start}-${end - 1}/${file.bytes}`;
  return headers;
}

function redirect(response: ServerResponse, cid: string): void {
  const { url } = response.req;
  const query = url?.includes('?') ? url.slice(url.indexOf('?')) : '';
  response.writeHead(301, {
    ...commonHeaders,
    'cache-control': IMMUTABLE_CACHE,
    'content-length': 0,
    location: `${IPFS_PREFIX}${cid}${query}`,
  });
  response.end();
}

function fail(response: ServerResponse, failure: Failure): void {
  rejectRequest(response, failure, { ...commonHeaders, 'cache-control': 'no-store' }, errorBody);
}
