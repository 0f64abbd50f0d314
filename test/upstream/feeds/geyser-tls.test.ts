import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createSecureServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { encodeFrame } from '../../../src/protocol/grpc/frames.ts';
import type { GrpcStatus } from '../../../src/protocol/grpc/status.ts';
import { GrpcStream } from '../../../src/upstream/geyser/grpc-stream.ts';
import { contentOf, makeCertificate } from '../../hardening/certificates.ts';

/** A gRPC server over TLS that sends one message. */
async function serve(own: ReturnType<typeof contentOf>): Promise<string> {
  const server = createSecureServer(own);
  const sessions: ServerHttp2Session[] = [];
  server.on('session', (session) => sessions.push(session));
  server.on('sessionError', () => {});
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
    stream.write(encodeFrame(Buffer.from('good day')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** What comes first of a stream: a message, or its end. */
function first(url: string): Promise<string | GrpcStatus> {
  return new Promise((resolve) => {
    const times = { connectTimeoutMs: 5_000, pingIntervalMs: 5_000, pongTimeoutMs: 5_000 };
    const sizes = { messageMaxBytes: 1_000, windowBytes: 65_535 };
    const stream = new GrpcStream(
      { url, headers: {}, method: '/a.B/C', ...times, ...sizes },
      { onOpen: () => {}, onMessage: (bytes) => resolve(bytes.toString()), onEnd: resolve },
    );
    onTestFinished(() => stream.close());
  });
}

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

it.skipIf(!hasOpenssl)('reads over TLS from a server with a trusted certificate only', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tls-'));
  const trusted = getCACertificates('default');
  onTestFinished(() => {
    setDefaultCACertificates(trusted);
    rmSync(folder, { recursive: true });
  });
  const own = contentOf(makeCertificate(folder, 'a-node'));
  const url = await serve(own);
  expect(await first(url)).toEqual({
    code: 'UNAVAILABLE',
    message: 'self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)',
  });
  setDefaultCACertificates([...trusted, own.cert.toString()]);
  expect(await first(url)).toBe('good day');
});
