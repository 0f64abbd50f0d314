import { connect as connectHttp2 } from 'node:http2';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import type { TlsIdentity } from '../../../src/servers/tls.ts';
import { contentOf, makeCertificate } from '../../hardening/certificates.ts';
import { temporaryFolder } from '../../service/program.ts';
import { NONE, RawCall, SUBSCRIBE, TestGrpcServer } from './start-grpc-server.ts';

const folder = temporaryFolder('grpc-tls');

let stage: TestGrpcServer;
const ends: (() => void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) end();
  await stage.stop();
});

const identity = (name: string): TlsIdentity => contentOf(makeCertificate(folder, name));

/** Connects without certificate validation. */
function client(ALPNProtocols: string[]): TLSSocket {
  const socket = connect({ port: stage.port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols });
  socket.on('error', () => {});
  ends.push(() => socket.destroy());
  return socket;
}

describe('a server with a certificate', () => {
  it('serves HTTP/2 over TLS', async () => {
    const own = identity('one');
    stage = await new TestGrpcServer({ tls: own }).listen();
    const session = connectHttp2(`https://localhost:${stage.port}`, {
      ca: own.cert as Buffer,
      lookup: (_name, _options, answer) => answer(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    ends.push(() => session.destroy());
    const call = new RawCall(session, SUBSCRIBE, {});
    const { sink } = await stage.stream();
    await call.next();
    const messages = [10, 100_000, 20].map((size, i) => Buffer.alloc(size, i));
    for (const message of messages) sink.push(NONE, message);
    for (const message of messages) expect((await call.next()).equals(message)).toBe(true);
    sink.end({ code: 'OK', message: '' });
    expect(await call.ended()).toMatchObject({ 'grpc-status': '0' });
  });

  it('closes connections of other protocols', async () => {
    stage = await new TestGrpcServer({ tls: identity('one'), handshakeTimeoutMs: 60 }).listen();
    const others = [client(['http/1.1']), client([])];
    await Promise.all(others.map((other) => new Promise((resolve) => other.on('close', resolve))));
    expect(stage.server.connections).toBe(0);
  });
});
