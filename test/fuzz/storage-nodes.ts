import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createLogger } from '../../src/base/log.ts';
import { buildBlocks } from '../../src/control/storage/file-blocks.ts';
import { KuboBackend } from '../../src/control/storage/kubo-backend.ts';
import { PinningService } from '../../src/control/storage/pinning-backend.ts';
import type { SpooledFile } from '../../src/control/storage/upload-spool.ts';
import { Failure } from '../../src/protocol/errors.ts';
import { acceptedLater } from './engine/accepted.ts';
import { scratchFolder } from './engine/scratch.ts';

export const from = 'nodes of Kubo and pinning services';
export const covers = ['control/storage/kubo-backend.ts', 'control/storage/pinning-backend.ts'];

const CONTENT = Buffer.from('some bytes');
const CID = 'bafkreifjjcie6lypi6ny7amxnfftagclbuxndqonfipmb64f2km2devei4';

/** An answer; the first byte says with which status it comes. */
export const seeds: readonly Uint8Array[] = [
  `{"Name":"file","Hash":"${CID}","Size":"9"}\n`,
  `{"Root":{"Cid":{"/":"${CID}"},"PinErrorMsg":""}}\n{"Stats":{}}\n`,
  '{"count":1,"results":[{"requestid":"r-1","status":"queued","pin":{}}]}',
  '{"count":0,"results":[]}',
  '{"requestid":"r-1","status":"pinned"}',
].flatMap((text) => [0, 1].map((status) => Buffer.from([status, ...Buffer.from(text)])));

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
const kubo = new KuboBackend({ url, limits });
const pinning = new PinningService({ url, token: 't', log, limits: { ...limits, watchedMax: 0 } as never });

/** Whatever a service answers, a file is kept or it is said that it could not be. */
export async function fuzz(bytes: Uint8Array): Promise<boolean> {
  reported = bytes;
  const stored = await acceptedLater(() => kubo.store(file), Failure);
  return (await acceptedLater(() => pinning.pin(CID, 'name'), Failure)) || stored;
}
