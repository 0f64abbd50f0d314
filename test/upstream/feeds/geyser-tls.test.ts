import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createSecureServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { encodeFrame } from '../../../src/protocol/grpc/frames.ts';
import type { GrpcStatus } from '../../../src/protocol/grpc/status.ts';
import { GrpcStream } from '../../../src/upstream/geyser/grpc-stream.ts';

type Identity = Readonly<{ key: string; cert: string }>;

let folder: string;
const trusted = getCACertificates('default');
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tls-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const ends: (() => void)[] = [];
afterEach(() => {
  setDefaultCACertificates(trusted);
  for (const end of ends.splice(0)) end();
});

/** A certificate that signs itself. */
function identity(name: string): Identity {
  const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', '/CN=a-node', '-addext', `subjectAltName=${name}`];
  const files = ['-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, ...files], { stdio: 'ignore' });
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}

/** A gRPC server over TLS that sends one message. */
async function serve(own: Identity): Promise<string> {
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
  ends.push(() => {
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
    ends.push(() => stream.close());
  });
}

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

describe.skipIf(!hasOpenssl)('a gRPC stream over TLS', () => {
  it('reads from a server with a trusted certificate', async () => {
    const own = identity('IP:127.0.0.1');
    setDefaultCACertificates([...trusted, own.cert]);
    expect(await first(await serve(own))).toBe('good day');
  });

  it('reports a self-signed certificate and a wrong host name', async () => {
    const stranger = identity('IP:127.0.0.1');
    const other = identity('IP:192.0.2.1');
    setDefaultCACertificates([...trusted, other.cert]);
    const faults = [];
    for (const own of [stranger, other]) faults.push(await first(await serve(own)));
    expect(faults).toEqual([
      {
        code: 'UNAVAILABLE',
        message: 'self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)',
      },
      {
        code: 'UNAVAILABLE',
        message: 'certificate does not match the host name (ERR_TLS_CERT_ALTNAME_INVALID)',
      },
    ]);
  });
});
