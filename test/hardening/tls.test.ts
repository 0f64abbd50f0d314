import { once } from 'node:events';
import { copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { checkTls } from '../../src/app/doctor/host.ts';
import { readTls, type TlsFiles } from '../../src/app/servers/tls-files.ts';
import { watchCertificates } from '../../src/app/servers/tls-reload.ts';
import { createLogger } from '../../src/base/log.ts';
import type { HttpTls } from '../../src/servers/http/options.ts';
import { load } from '../app/load-configuration.ts';
import { RawClient, rawPost, startHttpServer, type TestHttpServer } from '../servers/start-http-server.ts';
import { temporaryFolder } from '../service/program.ts';
import { startService } from '../service/start-service.ts';
import { contentOf, makeCertificate } from './certificates.ts';
import { call, statuses } from './raw-calls.ts';

const folder = temporaryFolder('tls');
let old: TlsFiles;
let renewed: TlsFiles;
beforeAll(() => {
  [old, renewed] = [makeCertificate(folder, 'old'), makeCertificate(folder, 'renewed')];
});

let server: TestHttpServer;
const ends: (() => void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) end();
  await server?.stop();
});

const start = async (tls: Partial<HttpTls> = {}, files = old): Promise<void> => {
  const all: HttpTls = { ...contentOf(files), minVersion: '1.2', strictTransportSeconds: 60, ...tls };
  server = await startHttpServer({ tls: all, headersTimeoutMs: 500 });
};

async function secure(options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
  ends.push(() => socket.destroy());
  await once(socket, 'secureConnect');
  return socket;
}

async function nameShown(options: ConnectionOptions = {}): Promise<unknown> {
  const socket = await secure(options);
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return subject.CN;
}

describe('the HTTPS server', () => {
  it('serves ordinary clients over TLS with Strict-Transport-Security', async () => {
    await start();
    const { cert: ca } = contentOf(old);
    const pending = request({ host: '127.0.0.1', port: server.port, path: '/health', ca });
    pending.end();
    const [response] = await once(pending, 'response');
    expect(response.statusCode).toBe(200);
    expect(response.headers['strict-transport-security']).toBe('max-age=60');
    response.resume();
    const socket = await secure({ ALPNProtocols: ['h2', 'http/1.1'] });
    expect(socket.alpnProtocol).toBe('http/1.1');
    const client = new RawClient(socket);
    socket.write(rawPost(server.createKey(), call('getSlot'), 'connection: close\r\n'));
    const received = await client.ended();
    expect(statuses(received)).toEqual([200]);
    expect(received).toMatch(/\r\nstrict-transport-security: max-age=60\r\n/i);
  });

  it.each<[string, ConnectionOptions]>([
    [
      'an outdated TLS version',
      { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' },
    ],
    ['no forward secrecy', { maxVersion: 'TLSv1.2', ciphers: 'AES128-GCM-SHA256:AES256-SHA' }],
    ['another protocol over TLS', { ALPNProtocols: ['h2'] }],
  ])('closes connections of clients with %s', async (_what, options) => {
    await start();
    await expect(secure(options)).rejects.toThrow();
  });

  it('accepts only TLS 1.3 if configured', async () => {
    await start({ minVersion: '1.3' });
    await expect(secure({ maxVersion: 'TLSv1.2' })).rejects.toThrow();
    expect((await secure()).getProtocol()).toBe('TLSv1.3');
  });

  it('closes connections without TLS or with endless handshakes, and can still drain', async () => {
    await start();
    const plain = new RawClient(connectTcp(server.port, '127.0.0.1'));
    plain.socket.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(statuses(await plain.ended())).toEqual([]);
    const silent = new RawClient(connectTcp(server.port, '127.0.0.1'));
    expect(await silent.ended()).toBe('');
    const waiting = new RawClient(connectTcp(server.port, '127.0.0.1'));
    await once(waiting.socket, 'connect');
    await secure();
    await server.stop();
    await waiting.ended();
  });
});

function watched(settleMs: number) {
  const place = temporaryFolder('watched');
  const files = { ...old, cert: join(place, 'cert.pem'), key: join(place, 'key.pem') };
  copyFileSync(old.cert, files.cert);
  copyFileSync(old.key, files.key);
  const lines: string[] = [];
  const secureServer = { name: 'HTTP listener', files, reload: server.http.reloadTls.bind(server.http) };
  const watch = watchCertificates(
    [secureServer],
    createLogger('trace', (line) => lines.push(line)),
    settleMs,
  );
  ends.push(watch.close);
  const replace = (cert: string, key: string): void => {
    for (const [from, to] of [
      [cert, files.cert],
      [key, files.key],
    ] as const) {
      copyFileSync(from, `${to}.new`);
      renameSync(`${to}.new`, to);
    }
  };
  return { files, lines, watch, replace };
}

describe('a renewed certificate', () => {
  it('is used for new connections after its files change', async () => {
    await start();
    const before = await secure();
    const { replace } = watched(20);
    replace(renewed.cert, renewed.key);
    await expect.poll(() => nameShown()).toBe('renewed');
    const client = new RawClient(before);
    before.write(rawPost(server.createKey(), call('getSlot'), 'connection: close\r\n'));
    expect(statuses(await client.ended())).toEqual([200]);
  });

  it.each<[string, () => [string, string], string]>([
    ['the wrong key', () => [renewed.cert, old.key], 'the key does not match the certificate'],
    ['an empty file', () => ['/dev/null', renewed.key], 'the file is not a PEM certificate'],
  ])('with %s is rejected and logged until it is fixed', async (_what, wrong, words) => {
    await start();
    const { files, lines, replace } = watched(20);
    const [cert, key] = wrong();
    if (cert === '/dev/null') writeFileSync(files.cert, '');
    else replace(cert, key);
    await expect.poll(() => lines.join('\n')).toContain(words);
    expect(lines.join('\n')).toContain('Certificate reload failed');
    expect(lines.join('\n')).not.toContain('BEGIN');
    expect(await nameShown()).toBe('old');
    replace(renewed.cert, renewed.key);
    await expect.poll(() => nameShown()).toBe('renewed');
  });
});

describe('the doctor', () => {
  const found = async (cert: string, key: string) =>
    checkTls(load(`[server.tls]\ncert_file = "${cert}"\nkey_file = "${key}"\n`));

  it('reports expired, soon expiring and invalid certificates', async () => {
    const soon = makeCertificate(folder, 'soon', ['-days', '3']);
    expect(await found(old.cert, old.key)).toMatchObject([{ subject: 'certificate', verdict: 'good' }]);
    expect(await found(soon.cert, soon.key)).toMatchObject([
      { verdict: 'warning', text: expect.stringMatching(/^expires on 20/) },
    ]);
    expect(await found(old.cert, renewed.key)).toMatchObject([
      { verdict: 'bad', text: expect.stringContaining('the key does not match the certificate') },
    ]);
    expect(() => readTls({ ...old, key: join(folder, 'none') })).toThrow('server.tls.key_file: ');
    expect(await checkTls(load(''))).toEqual([]);
  });
});

describe('the docs', () => {
  const page = (name: string): string => readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8');

  it('show a configuration that enables TLS on both ports, and renews it on SIGHUP', async () => {
    const [, toml = ''] = /^```toml\n([\s\S]*?)^```/m.exec(page('how-to/tls.md')) ?? [];
    const [cert, key] = [join(folder, 'docs.pem'), join(folder, 'docs.key')];
    const install = (files: TlsFiles): void => {
      copyFileSync(files.cert, cert);
      copyFileSync(files.key, key);
    };
    install(old);
    const files = { '/etc/solway/cert.pem': cert, '/etc/solway/key.pem': key };
    const configuration = Object.entries(files).reduce((text, [from, to]) => text.replaceAll(from, to), toml);
    const service = await startService({ configuration: `${configuration}\n[localnet]\nslot_ms = 50\n` });
    try {
      const { url, wsUrl, grpcUrl } = service.ready;
      expect([url, wsUrl, grpcUrl].map((one) => new URL(one).protocol)).toEqual(['https:', 'wss:', 'https:']);
      const shown = () => nameShown({ port: Number(new URL(grpcUrl).port), ALPNProtocols: ['h2'] });
      expect(await shown()).toBe('old');
      install(renewed);
      service.process.kill('SIGHUP');
      await expect.poll(shown).toBe('renewed');
    } finally {
      await service.stop();
    }
  });
});
