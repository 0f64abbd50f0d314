import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { createLogger } from '../../../src/base/log.ts';
import { buildBlocks } from '../../../src/control/storage/file-blocks.ts';
import { kuboBackend } from '../../../src/control/storage/kubo-backend.ts';
import { PinningService } from '../../../src/control/storage/pinning-backend.ts';
import type { SpooledFile } from '../../../src/control/storage/upload-spool.ts';
import { Failure } from '../../../src/protocol/errors.ts';
import { cacheFile, parseCacheFile } from '../../../src/upstream/off-chain/disk-cache.ts';
import { decoded, documentIn, mayBeJson, parseDocument } from '../../../src/upstream/off-chain/document.ts';
import { offChainLimits, offChainRules } from '../../../src/upstream/off-chain/limits.ts';
import { targetOf } from '../../../src/upstream/off-chain/target.ts';
import { scratchFolder } from '../engine/scratch.ts';
import { acceptedLater, selecting, type Target, texts } from '../engine/target.ts';

const URI = 'https://a.example/é.json';

export const cachedDocumentTarget: Target = {
  seeds: [
    cacheFile(URI, { document: Buffer.from('{"a":1}'), until: 1_700_000_000_000 }),
    cacheFile(URI, { document: null, until: 5 }),
    cacheFile('https://b.example/', { document: Buffer.from('x\ny'), until: 5 }),
  ],
  /** A file that is read round-trips. */
  fuzz(bytes: Uint8Array): boolean {
    const stored = parseCacheFile(Buffer.from(bytes), URI);
    if (stored === null) return false;
    const again = parseCacheFile(cacheFile(URI, stored), URI);
    const isSame =
      again?.until === stored.until && again.document?.toString() === stored.document?.toString();
    if (!isSame) throw new Error('a document changes in a round trip');
    return true;
  },
};

const hosts = new Set(
  [...offChainRules.ipfsGateways, ...offChainRules.arweaveGateways].map((gateway) => new URL(gateway).host),
);

export const offChainUriTarget: Target = {
  seeds: texts([
    'https://a.example:443/x.json?y#z',
    'http://user:pass@[::ffff:10.0.0.1]:80/',
    'ipfs://ipfs/bafkreifjjcie6lypi6ny7amxnfftagclbuxndqonfipmb64f2km2devei4/../7.json',
    'ar://PR0YX8bYbPbxX8rN3ySxFeGBbvyWbGnFYUvnz6eNyYg/0',
    'data:application/json;charset=utf-8;base64,eyJhIjoxfQ==',
    'data:application/json;utf8,%7B%22a%22%3A1%7D',
  ]),
  /** No forbidden scheme, port or user. */
  fuzz(bytes: Uint8Array): boolean {
    const uri = Buffer.from(bytes).toString('utf8');
    const target = targetOf(uri, offChainRules, offChainLimits);
    if (target?.kind !== 'remote') return target !== null;
    for (const { protocol, port, username, password, host } of target.urls) {
      if (!/^https?:$/.test(protocol) || !/^(?:80|443|)$/.test(port))
        throw new Error('another scheme or port');
      if (username !== '' || password !== '') throw new Error('a user');
      if (/^\s*(?:ipfs|ar):/i.test(uri) && !hosts.has(host)) throw new Error('not a gateway');
    }
    return true;
  },
};

const MAX_BYTES = 2_048;
const encodings = ['gzip', 'br', 'deflate', 'GZIP ', 'identity', 'gzip, br', 'x-gzip'];
const document = Buffer.from('{"name":"n","image":"https://a.example/i.png"}');
const bomb = Buffer.alloc(MAX_BYTES * 20, '[');

export const offChainContentTarget: Target = {
  /** A body; the first byte names its encoding. */
  seeds: [document, bomb].flatMap((body) => [
    Buffer.of(0, ...gzipSync(body)),
    Buffer.of(1, ...brotliCompressSync(body)),
    Buffer.of(2, ...deflateSync(body)),
    Buffer.of(2, ...deflateRawSync(body)),
    Buffer.of(6, ...gzipSync(body)),
  ]),
  /** A body is unpacked up to the limit, or refused. */
  async fuzz(bytes: Uint8Array): Promise<boolean> {
    const encoding = encodings[(bytes[0] ?? 0) % encodings.length];
    const body = Buffer.from(bytes.subarray(1));
    mayBeJson(body.toString('latin1', 0, 80));
    const unpacked = await decoded(body, encoding, MAX_BYTES);
    if (encoding === 'identity') {
      if (unpacked !== body) throw new Error('changed an unpacked body');
      return true;
    }
    if (unpacked !== null && unpacked.length > MAX_BYTES) throw new Error('unpacked more than the limit');
    return unpacked !== null;
  },
};

export const offChainDocumentTarget: Target = {
  seeds: texts([
    '{"name":"n","symbol":"s","image":"https://a.example/i.png","attributes":[{"trait_type":"t","value":1.5e3}]}',
    '\ufeff{"a":[{},[],"\\u00e9\\"",null,true,false,-0,18446744073709551615]}',
    '[[[[[[[[]]]]]]]]',
    ' "text" ',
  ]),
  /** A document is valid JSON. */
  fuzz(bytes: Uint8Array): boolean {
    const document = documentIn(Buffer.from(bytes), offChainLimits);
    if (document === null) return false;
    parseDocument(document);
    JSON.parse(document.toString('utf8'));
    return true;
  },
};

const CONTENT = Buffer.from('some bytes');
const CID = 'bafkreifjjcie6lypi6ny7amxnfftagclbuxndqonfipmb64f2km2devei4';

let reported: Uint8Array = new Uint8Array();
const statuses = [200, 202, 500];

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.statusCode = statuses[(reported[0] ?? 0) % statuses.length] ?? 200;
    response.end(reported.subarray(1));
  });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
server.unref();

const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const log = createLogger('silent', () => {});
const limits = { answerMaxBytes: 4_096 };
const path = join(scratchFolder('storage-nodes'), 'file');
writeFileSync(path, CONTENT);
const blocks = await buildBlocks(Readable.from([CONTENT]));
const file: SpooledFile = { path, cid: CID, bytes: CONTENT.length, type: null, blocks };
const kubo = kuboBackend({ url, limits });
const pinning = new PinningService({ url, token: 't', log, limits: { ...limits, watchedMax: 0 } as never });

export const storageNodesTarget: Target = {
  /** Responses; the first byte selects the status. */
  seeds: [
    `{"Name":"file","Hash":"${CID}","Size":"9"}\n`,
    `{"Root":{"Cid":{"/":"${CID}"},"PinErrorMsg":""}}\n{"Stats":{}}\n`,
    '{"count":1,"results":[{"requestid":"r-1","status":"queued","pin":{}}]}',
    '{"count":0,"results":[]}',
    '{"requestid":"r-1","status":"pinned"}',
  ].flatMap((text) => [0, 1].map((status) => selecting(status, text))),
  /** A file is stored, or a failure is thrown. */
  async fuzz(bytes: Uint8Array): Promise<boolean> {
    reported = bytes;
    const stored = await acceptedLater(() => kubo.store(file), Failure);
    return (await acceptedLater(() => pinning.pin(CID, 'name'), Failure)) || stored;
  },
};
