import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request as send } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { findProgram, freePort } from '../../bench/rpc/processes.ts';
import { eventually } from '../service/eventually.ts';
import { GrpcClient } from '../service/grpc-client.ts';
import { temporaryFolder } from '../service/program.ts';
import { type RunningService, startService } from '../service/start-service.ts';
import { contentOf, makeCertificate } from './certificates.ts';

/** Runs the nginx configuration of docs/how-to/reverse-proxy.md in the real nginx. */
const page = readFileSync(join(import.meta.dirname, '../../docs/how-to/reverse-proxy.md'), 'utf8');
const [, snippet = ''] = /^```nginx\n([\s\S]*?)^```/m.exec(page) ?? [];
const program = findProgram('nginx');

/** Replacements that make the snippet run on free loopback ports. */
function fillIn(replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((filled, [from, to]) => {
    if (!filled.includes(from)) throw new Error(`the snippet has no "${from}"`);
    return filled.replaceAll(from, to);
  }, snippet);
}

type Answer = Readonly<{ status: number; type: string; body: string }>;

describe.skipIf(program === null)('the nginx configuration in the docs', () => {
  const folder = temporaryFolder('nginx');
  const files = makeCertificate(folder, 'proxy');
  const { cert: ca } = contentOf(files);
  let service: RunningService;
  let nginx: ReturnType<typeof spawn>;
  let httpPort = 0;
  let grpcPort = 0;

  beforeAll(async () => {
    service = await startService();
    [httpPort, grpcPort] = [await freePort(), await freePort()];
    const block = fillIn({
      'server 127.0.0.1:8080': `server ${new URL(service.ready.url).host}`,
      'grpc://127.0.0.1:50051': `grpc://${new URL(service.ready.grpcUrl).host}`,
      'listen 443': `listen 127.0.0.1:${httpPort}`,
      'listen 50443': `listen 127.0.0.1:${grpcPort}`,
      '/etc/ssl/solway.pem': files.cert,
      '/etc/ssl/solway.key': files.key,
    });
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const paths = temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n');
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    const config = join(folder, 'nginx.conf');
    writeFileSync(
      config,
      `${user}\ndaemon off;\npid ${folder}/nginx.pid;\nevents {}\nhttp {\n${paths}\n${block}\n}\n`,
    );
    nginx = spawn(program ?? '', ['-p', folder, '-c', config], { stdio: ['ignore', 'ignore', 'inherit'] });
    await eventually(() => get('/health').catch(() => null), 'nginx answers');
  });

  afterAll(async () => {
    nginx?.kill();
    if (nginx?.exitCode === null) await once(nginx, 'exit');
    await service?.stop();
  });

  function get(path: string, { method = 'GET', headers = {}, body = '' } = {}): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const options = { host: '127.0.0.1', port: httpPort, path, method, headers, ca };
    send(options, async (response) => {
      const { statusCode: status = 0, headers: received } = response;
      resolve({ status, type: received['content-type'] ?? '', body: await text(response) });
    })
      .on('error', reject)
      .end(body);
    return promise;
  }

  it.each([
    ...['/', '/setup', '/docs', '/openapi.json', '/api/v1/openapi.json', '/api/v1/customers'],
    ...['/ipfs/nothing', '/health', '/v1/rpc', '/sol/v1/nothing', '/no-such-path'],
  ])('proxies %s and returns the response of the service', async (path) => {
    const direct = await fetch(service.ready.url + path);
    const { status, type, body } = await get(path);
    expect([status, type]).toEqual([direct.status, direct.headers.get('content-type') ?? '']);
    // Compares a prefix, because ids and client address differ.
    expect(body.slice(0, 60)).toBe((await direct.text()).slice(0, 60));
  });

  it('forwards the Host header, so that the dashboard accepts requests from its own pages', async () => {
    const headers = { 'content-type': 'application/json', 'x-solway': '1' };
    const body = JSON.stringify({ email: 'nobody@example.com', password: 'not a password' });
    const signIn = (origin: string): Promise<Answer> =>
      get('/api/auth/sign-in/email', { method: 'POST', headers: { ...headers, origin }, body });
    expect((await signIn('https://other.example')).status).toBe(403);
    expect((await signIn(`https://127.0.0.1:${httpPort}`)).status).toBe(401);
  });

  it.each(['/v1/ws', '/v1/rpc'])('proxies WebSocket upgrades of %s', async (path) => {
    const socket = new WebSocket(`wss://127.0.0.1:${httpPort}${path}?api-key=${service.key}`, { ca });
    await once(socket, 'open');
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'slotSubscribe' }));
    const [first] = await once(socket, 'message');
    expect(JSON.parse(String(first))).toMatchObject({ id: 1, result: 1 });
    const [second] = await once(socket, 'message');
    expect(JSON.parse(String(second))).toMatchObject({ method: 'slotNotification' });
    socket.close();
    await once(socket, 'close');
  });

  it.each(['/ready', '/metrics'])('blocks %s from outside', async (path) => {
    expect((await get(path)).status).toBe(403);
  });

  it('proxies gRPC calls and streams', async () => {
    const key = service.ready.keys.find(({ product }) => product === 'grpc')?.key ?? '';
    const client = new GrpcClient(`https://127.0.0.1:${grpcPort}`, ca);
    expect(await client.call(key, 'GetSlot')).toBeInstanceOf(Buffer);
    const stream = client.open(key, 'Subscribe');
    stream.send({ slots: new Map([['all', {}]]) });
    await stream.first;
    stream.close();
    await stream.ended;
    client.close();
  });
});
