import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { neverAborted, openClient } from './hosts.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const trusted = getCACertificates('default');
let folder = '';
let server: Server;
let port = 0;
let cert = '';
let names: unknown[] = [];

function start(): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'solway-off-chain-tls-'));
  const [key, file] = [join(folder, 'key'), join(folder, 'cert')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', '/CN=a.example', '-addext', 'subjectAltName=DNS:a.example'];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', file], {
    stdio: 'ignore',
  });
  cert = readFileSync(file, 'utf8');
  server = createServer({ key: readFileSync(key), cert }, (_, reply) => void reply.end('{"name":"n"}'));
  server.on('secureConnection', ({ servername }) => names.push(servername));
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.2', () => {
      port = (server.address() as AddressInfo).port;
      resolve();
    }),
  );
}

async function read(host: string, addresses = ['127.0.0.2']): Promise<unknown> {
  const client = await openClient([port], { resolve: async () => addresses });
  const uri = `https://${host}:${port}/`;
  try {
    return (await client.read([uri], neverAborted)).get(uri);
  } finally {
    await client.close();
  }
}

describe.skipIf(!hasOpenssl)('TLS host (skipped without openssl)', () => {
  beforeAll(start);
  afterEach(() => {
    setDefaultCACertificates(trusted);
    names = [];
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });

  it('is rejected with another name or an untrusted certificate', async () => {
    expect(await read('a.example')).toBeUndefined();
    setDefaultCACertificates([...trusted, cert]);
    expect(await read('a.example')).toEqual({ name: 'n' });
    expect(await read('b.example')).toBeUndefined();
    expect(await read('127.0.0.2')).toBeUndefined();
  });
});
