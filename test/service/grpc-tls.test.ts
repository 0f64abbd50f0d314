import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { healthy } from '../upstream/mock/behaviors.ts';
import { type MockNode, startMock } from '../upstream/mock/server.ts';
import { eventually } from './eventually.ts';
import { GrpcClient } from './grpc-client.ts';
import { temporaryFolder } from './program.ts';
import { type RunningService, startService } from './start-service.ts';

/** The gRPC server with a certificate, in front of a node without Geyser. */
const folder = temporaryFolder('grpc-tls');
const [keyFile, certFile] = [join(folder, 'door.key'), join(folder, 'door.pem')];
let mock: MockNode;
let service: RunningService;

/** Creates a self-signed certificate. */
function renew(): Buffer {
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', '/CN=door', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', keyFile, '-out', certFile];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, ...files], { stdio: 'ignore' });
  return readFileSync(certFile);
}

/** Serial number of the served certificate. */
function shown(): Promise<string> {
  const port = Number(new URL(service.ready.grpcUrl).port);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
  });
}

beforeAll(async () => {
  renew();
  mock = await startMock(healthy());
  const tls = `[grpc]\ntls_cert = "${certFile}"\ntls_key = "${keyFile}"\n`;
  service = await startService({ configuration: `${tls}[[upstream]]\nurl = "${mock.url}"\nws = "off"\n` });
});
afterAll(async () => {
  await service?.stop();
  await mock?.close();
});

const keyOf = (name: string): string => service.ready.keys.find(({ product }) => product === name)?.key ?? '';

it('serves calls over TLS, and refuses shred stage streams without a source', async () => {
  expect(service.ready.grpcUrl).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const client = new GrpcClient(service.ready.grpcUrl, readFileSync(certFile));
  expect(Buffer.isBuffer(await client.call(keyOf('grpc'), 'GetVersion'))).toBe(true);
  expect(await client.open(keyOf('fs'), 'SubscribeDeshred').ended).toMatchObject({
    ...{ status: 12, name: 'NO_SHRED_STAGE' },
  });
  client.close();
});

it('reloads its certificate on SIGHUP, and keeps the old one when the new one is invalid', async () => {
  const before = await shown();
  renew();
  service.process.kill('SIGHUP');
  const after = await eventually(
    async () => (await shown().then((one) => one !== before && one)) || null,
    'the door shows the new certificate',
  );
  execFileSync('cp', ['/dev/null', certFile]);
  service.process.kill('SIGHUP');
  await eventually(
    async () => service.output().includes('keeping the current certificate'),
    'the log says so',
  );
  expect(await shown()).toBe(after);
});
