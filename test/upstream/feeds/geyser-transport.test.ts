import { spawnSync } from 'node:child_process';
import {
  constants,
  createSecureServer,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { encodeFrame, GrpcFrames } from '../../../src/protocol/grpc/frames.ts';
import type { GrpcStatus } from '../../../src/protocol/grpc/status.ts';
import { GrpcStream, type GrpcStreamOptions } from '../../../src/upstream/geyser/grpc-stream.ts';
import { TcpProxy } from '../../chaos/tcp-proxy.ts';
import { contentOf, makeCertificate } from '../../hardening/certificates.ts';
import { temporaryFolder } from '../../service/program.ts';

/** How a plain HTTP/2 server handles a stream. */
type Script = (stream: ServerHttp2Stream, session: ServerHttp2Session) => void;

const SIZES = { decompressionRatioMax: 2, ratioExemptBytes: 50 };

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** @param tls - key and certificate. */
async function listen(script: Script, tls?: ReturnType<typeof contentOf>): Promise<string> {
  const server: Http2Server = tls === undefined ? createServer() : createSecureServer(tls);
  const sessions: ServerHttp2Session[] = [];
  server.on('session', (session) => sessions.push(session));
  server.on('sessionError', () => {});
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    script(stream, stream.session as ServerHttp2Session);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A stream to a scripted server; records its messages and its final status. */
class Call {
  readonly messages: string[] = [];
  readonly ended: Promise<GrpcStatus>;
  readonly stream: GrpcStream;
  #wake: (() => void) | null = null;

  constructor(url: string, options: Partial<GrpcStreamOptions> = {}) {
    const { promise, resolve } = Promise.withResolvers<GrpcStatus>();
    this.ended = promise;
    this.stream = new GrpcStream(
      {
        url,
        headers: { 'X-Token': 'secret', host: 'elsewhere', ':path': '/x', te: 'gzip', upgrade: 'h2c' },
        method: '/geyser.Geyser/Subscribe',
        connectTimeoutMs: 2_000,
        pingIntervalMs: 10_000,
        pongTimeoutMs: 10_000,
        messageMaxBytes: 1_000_000,
        windowBytes: 1_000_000,
        ...options,
      },
      {
        onOpen: () => {},
        onMessage: (bytes) => {
          this.messages.push(bytes.toString());
          this.#wake?.();
        },
        onEnd: resolve,
      },
    );
    ends.push(() => this.stream.close());
  }

  async count(wanted: number): Promise<void> {
    while (this.messages.length < wanted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

const accept = (stream: ServerHttp2Stream, headers: Record<string, string> = {}): void =>
  stream.respond(
    { ':status': 200, 'content-type': 'application/grpc', ...headers },
    { waitForTrailers: true },
  );

const compressed = (message: Buffer): Buffer => {
  const frame = encodeFrame(message);
  frame[0] = 1;
  return frame;
};

describe('GrpcStream', () => {
  it('ends with the status of the trailers', async () => {
    const url = await listen((stream) => {
      accept(stream);
      stream.on('wantTrailers', () =>
        stream.sendTrailers({ 'grpc-status': '11', 'grpc-message': 'from%20slot 5 %zz' }),
      );
      stream.end(encodeFrame(Buffer.from('last')));
    });
    const call = new Call(url);
    expect(await call.ended).toEqual({ code: 'OUT_OF_RANGE', message: 'from%20slot 5 %zz' });
    expect(call.messages).toEqual(['last']);
  });

  it('ends with the status in the headers, or the one derived from the HTTP status', async () => {
    const refused = await listen((stream) =>
      stream.respond(
        { ':status': 200, 'grpc-status': '16', 'grpc-message': 'No valid auth token%21' },
        { endStream: true },
      ),
    );
    expect(await new Call(refused).ended).toEqual({
      code: 'UNAUTHENTICATED',
      message: 'No valid auth token!',
    });
    for (const [status, code] of [
      [502, 'UNAVAILABLE'],
      [418, 'UNKNOWN'],
    ] as const) {
      const away = await listen((stream) => stream.respond({ ':status': status }, { endStream: true }));
      expect(await new Call(away).ended).toEqual({ code, message: `HTTP ${status}` });
    }
  });

  it('ends when the server is unreachable or silent, and when the stream breaks', async () => {
    expect((await new Call('http://127.0.0.1:1').ended).message).toBe('connection refused (ECONNREFUSED)');
    const silent = await listen(() => {});
    expect((await new Call(silent, { connectTimeoutMs: 50 }).ended).message).toBe(
      'no response within the connect timeout',
    );
    const cutting = await listen((stream, session) => {
      accept(stream);
      session.destroy();
    });
    expect((await new Call(cutting).ended).code).toBe('UNAVAILABLE');
  });

  it('ends when a ping is not answered', async () => {
    const url = await listen((stream) => {
      accept(stream);
      stream.write(encodeFrame(Buffer.from('hello')));
    });
    const proxy = await TcpProxy.start(Number(new URL(url).port));
    ends.push(() => void proxy.close());
    const call = new Call(`http://127.0.0.1:${proxy.port}`, { pingIntervalMs: 30, pongTimeoutMs: 200 });
    await call.count(1);
    proxy.freeze();
    expect(await call.ended).toEqual({ code: 'UNAVAILABLE', message: 'ping timeout' });
  });

  it.each([
    ['exceeds the size limit', encodeFrame(Buffer.alloc(200))],
    ['exceeds the size limit once decompressed', compressed(gzipSync(Buffer.alloc(100_000)))],
    ['is not valid gzip', compressed(Buffer.from('plain'))],
    ['has an unknown flag', Buffer.from([2, 0, 0, 0, 1, 0])],
  ])('ends on a message that %s', async (_name, bytes) => {
    const url = await listen((stream) => {
      accept(stream, { 'grpc-encoding': 'gzip' });
      stream.write(bytes);
    });
    expect((await new Call(url, { messageMaxBytes: 150 }).ended).code).toBe('INTERNAL');
  });

  it('applies backpressure to the server while paused', async () => {
    let written = 0;
    const held = Promise.withResolvers<void>();
    const url = await listen((stream, session) => {
      let pings = 0;
      session.on('ping', () => ++pings === 5 && held.resolve());
      accept(stream);
      const message = encodeFrame(Buffer.alloc(50_000, 'x'));
      const write = (): void => {
        while (written < 100 && stream.write(message)) written++;
        if (written++ < 100) stream.once('drain', write);
      };
      write();
    });
    const call = new Call(url, { windowBytes: 65_535, pingIntervalMs: 20 });
    call.stream.pause();
    await held.promise;
    expect(call.messages).toEqual([]);
    expect(written).toBeLessThan(20);
    call.stream.resume();
    await call.count(100);
  });
});

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

it.skipIf(!hasOpenssl)('GrpcStream connects over TLS only with a trusted certificate', async () => {
  const folder = temporaryFolder('tls');
  const trusted = getCACertificates('default');
  ends.push(() => setDefaultCACertificates(trusted));
  const own = contentOf(makeCertificate(folder, 'a-node'));
  const url = await listen((stream) => {
    accept(stream);
    stream.write(encodeFrame(Buffer.from('good day')));
  }, own);
  expect(await new Call(url).ended).toEqual({
    code: 'UNAVAILABLE',
    message: 'self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)',
  });
  setDefaultCACertificates([...trusted, own.cert.toString()]);
  await new Call(url).count(1);
});

describe('a server that compresses', () => {
  const MIB = 1024 * 1024;
  const LARGE = { messageMaxBytes: 128 * MIB, windowBytes: 16 * MIB };

  it.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ] as const)('may send 10 MiB of zeros in %s, and is disconnected for more', async (encoding, pack) => {
    const url = await listen((stream) => {
      accept(stream, { 'grpc-encoding': encoding });
      for (const size of [10 * MIB + 500, 17 * MIB, 100]) stream.write(compressed(pack(Buffer.alloc(size))));
    });
    const call = new Call(url, LARGE);
    expect(await call.ended).toEqual({
      code: 'INTERNAL',
      message: 'decompressed message exceeds the size limit',
    });
    expect(call.messages.map(({ length }) => length)).toEqual([10 * MIB + 500]);
  });

  it('is read to the end, no matter how it disconnects', async () => {
    for (const leave of [
      (_stream: ServerHttp2Stream, session: ServerHttp2Session) => session.goaway(),
      (stream: ServerHttp2Stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR),
      (_stream: ServerHttp2Stream, session: ServerHttp2Session) => session.destroy(),
    ]) {
      const packed = compressed(zstdCompressSync(Buffer.alloc(2 * MIB)));
      let [server, connection]: [ServerHttp2Stream | null, ServerHttp2Session | null] = [null, null];
      const url = await listen((stream, session) => {
        [server, connection] = [stream, session];
        accept(stream, { 'grpc-encoding': 'zstd' });
        stream.write(Buffer.concat(Array(20).fill(packed)));
      });
      const call = new Call(url, LARGE);
      await call.count(1);
      leave(server!, connection!);
      await call.ended;
      expect(call.messages).toHaveLength(20);
    }
  });
});

describe('gRPC frames', () => {
  it('are decoded from chunks of any size', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 8 }),
        (messages, cuts) => {
          const bytes = Buffer.concat(messages.map(encodeFrame));
          const frames = new GrpcFrames({ ...SIZES, messageMaxBytes: 40 });
          const found: Uint8Array[] = [];
          for (let at = 0, cut = 0; at < bytes.length; cut++) {
            const size = cuts[cut % cuts.length]!;
            frames.push(bytes.subarray(at, at + size));
            for (let one = frames.next(); one !== null; one = frames.next()) found.push(Uint8Array.from(one));
            at += size;
          }
          expect(found).toEqual(messages);
        },
      ),
    );
  });
});
