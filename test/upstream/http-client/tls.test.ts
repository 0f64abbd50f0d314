import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { UpstreamNode } from '../../../src/upstream/node.ts';
import { nodeAt, outcomeText } from './node-rig.ts';
import { envelope, http, type RawNode, type RawScript, responding, startRaw } from './raw-node.ts';

type Identity = Readonly<{ key: string; cert: string }>;

const trusted = getCACertificates('default');
let folder: string;
let own: Identity;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tls-'));
  own = identity('subjectAltName=IP:127.0.0.1,DNS:node.test');
});
afterAll(() => rmSync(folder, { recursive: true }));

let raw: RawNode;
let node: UpstreamNode;
afterEach(async () => {
  setDefaultCACertificates(trusted);
  await node.close();
  await raw.close();
});

/** Self-signed certificate. */
function identity(names: string): Identity {
  const [key, cert] = [join(folder, 'key'), join(folder, 'pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', '/CN=a-node', '-addext', names];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}

async function open(script: RawScript, headers: Record<string, string> = {}): Promise<void> {
  raw = await startRaw(script, own);
  node = nodeAt(raw.url, {}, { headers });
}

describe('TLS node', () => {
  it('is rejected with an untrusted certificate', async () => {
    await open(responding);
    expect(await outcomeText(node)).toBe('unsent, lost');
    expect(raw.requests).toHaveLength(0);
  });

  it('needs the name of the host header in its certificate, if configured', async () => {
    setDefaultCACertificates([...trusted, own.cert]);
    await open(responding, { host: 'node.test' });
    expect(await outcomeText(node)).toBe('7');
    expect((raw.sockets[0] as TLSSocket & { servername: unknown }).servername).toBe('node.test');
    await node.close();
    node = nodeAt(raw.url, {}, { headers: { host: 'other.test' } });
    expect(await outcomeText(node)).toBe('unsent, lost');
  });

  it('resumes the TLS session', async () => {
    setDefaultCACertificates([...trusted, own.cert]);
    const resumed: boolean[] = [];
    await open(({ socket, id }) => {
      resumed.push((socket as TLSSocket).isSessionReused());
      socket.write(http(envelope(id), ['connection: close']));
    });
    for (let i = 0; i < 3; i++) expect(await outcomeText(node)).toBe('7');
    expect(resumed[0]).toBe(false);
    expect(resumed.at(-1)).toBe(true);
  });
});
