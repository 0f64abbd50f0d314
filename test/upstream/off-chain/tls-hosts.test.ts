import { spawnSync } from 'node:child_process';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { contentOf, makeCertificate } from '../../hardening/certificates.ts';
import { temporaryFolder } from '../../service/program.ts';
import { neverAborted, openClient } from './hosts.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

it.skipIf(!hasOpenssl)('off-chain hosts need a trusted certificate for their name', async () => {
  const folder = temporaryFolder('off-chain-tls');
  const trusted = getCACertificates('default');
  const own = contentOf(makeCertificate(folder, 'a-host'));
  const server = createServer(own, (_, reply) => void reply.end('{"name":"n"}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    setDefaultCACertificates(trusted);
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const read = async (host: string): Promise<unknown> => {
    const rules = { allowedNetworks: ['127.0.0.1/32'], ports: [port] };
    const client = await openClient([], { resolve: async () => ['127.0.0.1'], rules });
    const uri = `https://${host}:${port}/`;
    return (await client.read([uri], neverAborted).finally(() => client.close())).get(uri);
  };
  expect(await read('127.0.0.1')).toBeUndefined();
  setDefaultCACertificates([...trusted, own.cert.toString()]);
  expect(await read('127.0.0.1')).toEqual({ name: 'n' });
  expect(await read('a.example')).toBeUndefined();
});
