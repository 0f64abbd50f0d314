import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLogger } from '../../base/log.ts';
import { Failure } from '../../protocol/errors.ts';
import { InvalidFields } from '../../protocol/rest/invalid-fields.ts';
import type { Upload } from '../../protocol/rest/route.ts';
import { rejectRequest } from '../http/encode.ts';
import type { HttpOptions } from '../http/options.ts';
import type { HttpHandler } from '../http/routes.ts';
import { HttpServer } from '../http/server.ts';
import { readUpload, type UploadLimits } from './multipart.ts';

const BOUNDARY = 'a-boundary';
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
const SDK_BUFFER = 'content-disposition: form-data; name="file"\r\ncontent-type: application/octet-stream';

const part = (head: string, body: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(`--${BOUNDARY}\r\n${head}\r\n\r\n`), Buffer.from(body), Buffer.from('\r\n')]);
const END = Buffer.from(`--${BOUNDARY}--\r\n`);
const field = (name: string, value: string): Buffer =>
  part(`content-disposition: form-data; name="${name}"`, value);
const whole = (...parts: Buffer[]): Buffer => Buffer.concat([...parts, END]);
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

type Outcome = { name: string | null; type: string; sha256: string; bytes: number } | { refused: string };

class Rig {
  readonly outcomes: (Outcome & { fields?: readonly string[] })[] = [];
  take: (upload: Upload) => Promise<Outcome> = async ({ name, type, bytes }) => {
    const hash = createHash('sha256');
    let length = 0;
    for await (const chunk of bytes) {
      hash.update(chunk);
      length += chunk.length;
    }
    return { name, type, sha256: hash.digest('hex'), bytes: length };
  };
  readonly http: HttpServer;
  readonly sockets: Socket[] = [];
  port = 0;

  constructor(limits: Partial<UploadLimits>, options: Partial<HttpOptions>) {
    const post: HttpHandler = async (request, response) => {
      try {
        const outcome = await this.take(await readUpload(request, response, limits));
        this.outcomes.push(outcome);
        response.end(JSON.stringify(outcome));
      } catch (failure) {
        const fields = failure instanceof InvalidFields ? failure.problems.map((one) => one.field) : [];
        this.outcomes.push({ refused: (failure as Failure).code, fields });
        if (!response.destroyed) rejectRequest(response, failure as Failure);
      }
    };
    const routes = new Map([['/upload', new Map([['POST', post]])]]);
    this.http = new HttpServer(
      routes,
      createLogger('silent', () => {}),
      options,
    );
  }

  async start(): Promise<this> {
    this.port = ((await this.http.listen()) as AddressInfo).port;
    return this;
  }

  async post(body: Buffer | FormData, type: string | null = TYPE): Promise<Outcome> {
    const headers = type === null ? {} : { 'content-type': type };
    const response = await fetch(`http://127.0.0.1:${this.port}/upload`, {
      method: 'POST',
      body,
      headers,
    } as RequestInit);
    await response.arrayBuffer();
    return this.outcomes.at(-1) as Outcome;
  }

  open(): Socket {
    const socket = connect(this.port, '127.0.0.1');
    socket.on('error', () => {});
    this.sockets.push(socket);
    return socket;
  }
}

let rig: Rig;

async function restart(
  limits: Partial<UploadLimits> = {},
  options: Partial<HttpOptions> = {},
): Promise<void> {
  await stop();
  rig = await new Rig(limits, options).start();
}

async function stop(): Promise<void> {
  for (const socket of rig.sockets) socket.destroy();
  await rig.http.drain(0);
}

beforeEach(async () => {
  rig = await new Rig({}, {}).start();
});
afterEach(async () => {
  vi.useRealTimers();
  await stop();
});

const head = (length: number | 'chunked', extra = ''): string => {
  const size = length === 'chunked' ? 'transfer-encoding: chunked' : `content-length: ${length}`;
  return `POST /upload HTTP/1.1\r\nhost: x\r\ncontent-type: ${TYPE}\r\n${size}\r\n${extra}\r\n`;
};

describe('an uploaded file', () => {
  it('has the name, type and bytes of its form part', async () => {
    const form = new FormData();
    form.append('network', 'devnet');
    form.append('file', new File([Buffer.from('{"a":1}')], 'a b.json', { type: 'application/json' }));
    form.append('after', 'x'.repeat(10_000));
    expect(await rig.post(form, null)).toEqual({
      ...{ name: 'a b.json', type: 'application/json', bytes: 7 },
      sha256: sha256(Buffer.from('{"a":1}')),
    });
  });

  it('may have no name and any bytes, as clients send buffers', async () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7) % 256));
    expect(await rig.post(whole(part(SDK_BUFFER, bytes)))).toEqual({
      ...{ name: null, type: 'application/octet-stream', bytes: bytes.length, sha256: sha256(bytes) },
    });
  });

  it('takes the last segment of a path as its name', async () => {
    const outcome = await rig.post(
      whole(part('content-disposition: form-data; name="file"; filename="../../etc/x.png"', 'x')),
    );
    expect(outcome).toMatchObject({ name: 'x.png' });
  });

  it('accepts any bytes with any chunk boundaries', async () => {
    const boundaryLike = fc
      .array(fc.constantFrom('\r\n', '--', BOUNDARY, '-', '\r', 'x', `\r\n--${BOUNDARY}x`))
      .map((pieces) => Buffer.from(pieces.join('')))
      .filter((bytes) => !bytes.includes(`\r\n--${BOUNDARY}\r\n`) && !bytes.includes(`\r\n--${BOUNDARY}--`));
    const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });
    const property = fc.asyncProperty(boundaryLike, cuts, async (bytes, sizes) => {
      if (Buffer.concat([Buffer.from('\r\n'), bytes, Buffer.from('\r\n')]).includes(`\r\n--${BOUNDARY}`))
        return;
      const socket = rig.open();
      const body = whole(part(SDK_BUFFER, bytes));
      socket.write(head('chunked', 'connection: close\r\n'));
      for (let at = 0, i = 0; at < body.length; i++) {
        const piece = body.subarray(at, at + (sizes[i % sizes.length] as number));
        at += piece.length;
        socket.write(
          Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]),
        );
      }
      socket.write('0\r\n\r\n');
      socket.resume();
      await once(socket, 'close');
      expect(rig.outcomes.at(-1)).toMatchObject({ bytes: bytes.length, sha256: sha256(bytes) });
    });
    await fc.assert(property, { numRuns: 60 });
  });
});

describe('an upload', () => {
  const good = part(SDK_BUFFER, 'bytes');

  it.each([
    ['no parts', Buffer.from('hello'), TYPE],
    ['an empty body', Buffer.alloc(0), TYPE],
    ['a type without a boundary', whole(good), 'multipart/form-data'],
    ['a boundary that is too long', whole(good), `multipart/form-data; boundary=${'b'.repeat(300)}`],
    ['another type', Buffer.from('{}'), 'application/json'],
    ['a missing end', good, TYPE],
    ['a truncated file', good.subarray(0, -4), TYPE],
    ['two files', whole(good, good), TYPE],
    ['too many parts', whole(...Array.from({ length: 101 }, (_, i) => field(`f${i}`, 'v'))), TYPE],
  ])('is rejected as MALFORMED_MULTIPART with %s', async (_what, body, type) => {
    expect(await rig.post(body, type)).toMatchObject({ refused: 'MALFORMED_MULTIPART' });
  });

  it('is rejected with the missing field when it has no file part', async () => {
    for (const body of [whole(field('other', 'x')), END, whole(part('x: y', 'no name'))]) {
      expect(await rig.post(body)).toEqual({ refused: 'INVALID_FIELDS', fields: ['file'] });
    }
  });

  it('is rejected above the file limit, not at it', async () => {
    await restart({ fileMaxBytes: 1_000 });
    expect(await rig.post(whole(part(SDK_BUFFER, 'x'.repeat(1_000))))).toMatchObject({ bytes: 1_000 });
    expect(await rig.post(whole(part(SDK_BUFFER, 'x'.repeat(1_001))))).toMatchObject({
      refused: 'FILE_TOO_LARGE',
    });
  });

  it('is rejected by its content-length before the body arrives', async () => {
    const socket = rig.open();
    socket.write(head(200 * 1024 * 1024, 'expect: 100-continue\r\n'));
    const [response] = await once(socket, 'data');
    expect(String(response)).toMatch(/^HTTP\/1.1 413 /);
  });

  it('gets 100 Continue when it expects it', async () => {
    const socket = rig.open();
    const body = whole(good);
    socket.write(head(body.length, 'expect: 100-continue\r\n'));
    const [response] = await once(socket, 'data');
    expect(String(response)).toMatch(/^HTTP\/1.1 100 /);
    socket.write(body);
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 200 /);
  });

  it.each([
    ['fields', (i: number) => field(`f${i}`, 'x'.repeat(60_000))],
    ['a preamble', () => Buffer.alloc(60_000, 'p')],
  ])('is rejected with endless %s', async (_what, piece) => {
    await restart({ overheadMaxBytes: 500_000, fileMaxBytes: 500_000, partsMax: 1_000 });
    const socket = rig.open();
    const responded = once(socket, 'data');
    socket.write(head(1_400_000));
    for (let i = 0; i < 20; i++) socket.write(piece(i));
    expect(String((await responded)[0])).toMatch(/^HTTP\/1.1 413 /);
  });

  it('is rejected for too many part headers, which are not stored', async () => {
    const name = 'content-disposition: form-data; name="file"';
    const outcome = await rig.post(whole(part(`${'x: y\r\n'.repeat(5_000)}${name}`, 'x')));
    expect(outcome).toEqual({ refused: 'INVALID_FIELDS', fields: ['file'] });
  });
});

describe('a delimiter line', () => {
  const file = part(SDK_BUFFER, 'bytes');

  it('is rejected with more after the boundary', async () => {
    const line = Buffer.from(`--${BOUNDARY}-x\r\n`);
    expect(await rig.post(whole(file, line, file))).toMatchObject({ refused: 'MALFORMED_MULTIPART' });
  });

  it('uses the boundary of the content type', async () => {
    const quoted = 'Multipart/Form-Data; charset=utf-8; BOUNDARY="it\\s own: 1"';
    const body = (suffix: string): Buffer =>
      Buffer.from(`--its own: 1${suffix}\r\n${SDK_BUFFER}\r\n\r\nbytes\r\n--its own: 1--`);
    expect(await rig.post(body(''), quoted)).toMatchObject({ bytes: 5 });
    expect(await rig.post(body('-'), quoted)).toMatchObject({ refused: 'MALFORMED_MULTIPART' });
  });
});

describe('an uploading client', () => {
  const bytes = Buffer.alloc(300_000, 'x');
  const body = whole(part(SDK_BUFFER, bytes));

  it('that disconnects fails the upload with CLIENT_GONE', async () => {
    const socket = rig.open();
    socket.write(head(body.length));
    socket.write(body.subarray(0, 200_000));
    await expect.poll(() => rig.http.inFlight).toBe(1);
    socket.destroy();
    await expect.poll(() => rig.outcomes).toEqual([{ refused: 'CLIENT_GONE', fields: [] }]);
  });

  it('that is slow succeeds while it makes progress', async () => {
    await restart(
      { progressMs: 150, progressMinBytes: 1_000 },
      { requestTimeoutMs: 150, headersTimeoutMs: 150 },
    );
    // A stalled machine must not look like a slow client.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const socket = rig.open();
    socket.write(head(body.length));
    const startedAt = performance.now();
    for (let at = 0; at < body.length; at += 15_000) {
      socket.write(body.subarray(at, at + 15_000));
      // The pace is under test.
      await new Promise((resolve) => setTimeout(resolve, 40));
      vi.advanceTimersByTime(40);
    }
    await expect.poll(() => rig.outcomes).toMatchObject([{ bytes: bytes.length }]);
    expect(performance.now() - startedAt).toBeGreaterThan(4 * 150);
  });

  it.each([
    ['stops in the middle of the file', 1_000],
    ['never begins', 0],
    ['never ends', body.length],
  ])('that %s gets 408', async (_what, sent) => {
    await restart({ progressMs: 100 });
    const socket = rig.open();
    socket.write(head(body.length + 1));
    socket.write(body.subarray(0, sent));
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 408 /);
    await expect.poll(() => rig.outcomes).toMatchObject([{ refused: 'REQUEST_TIMEOUT' }]);
  });

  it('that exceeds the total time gets 408', async () => {
    await restart({ progressMs: 50, progressMinBytes: 0, uploadMaxMs: 300 });
    const socket = rig.open();
    socket.write(head(body.length));
    const timer = setInterval(() => socket.write('x'), 10);
    const [response] = await once(socket, 'data');
    clearInterval(timer);
    expect(String(response)).toMatch(/^HTTP\/1.1 408 /);
  });

  it('gets a response when the reader stops early', async () => {
    rig.take = async ({ bytes: chunks }) => {
      for await (const _ of chunks) throw new Failure('STORAGE_FULL');
      return { refused: 'never' };
    };
    const responses = await Promise.all(
      [body, whole(part(SDK_BUFFER, Buffer.alloc(5_000_000)))].map((sent) => rig.post(sent)),
    );
    expect(responses).toMatchObject([{ refused: 'STORAGE_FULL' }, { refused: 'STORAGE_FULL' }]);
  });
});
