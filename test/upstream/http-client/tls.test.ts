import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { UpstreamNode } from '../../../src/upstream/node.ts';
import { contentOf, makeCertificate } from '../../hardening/certificates.ts';
import { temporaryFolder } from '../../service/program.ts';
import { nodeAt, outcomeText } from './node-rig.ts';
import { envelope, http, type RawNode, type RawScript, responding, startRaw } from './raw-node.ts';

const trusted = getCACertificates('default');
let own: ReturnType<typeof contentOf>;
beforeAll(() => {
  own = contentOf(makeCertificate(temporaryFolder('tls'), 'a-node'));
});

let raw: RawNode;
let node: UpstreamNode;
afterEach(async () => {
  setDefaultCACertificates(trusted);
  await node.close();
  await raw.close();
});

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

  it('must have a certificate for the configured host header', async () => {
    setDefaultCACertificates([...trusted, own.cert.toString()]);
    await open(responding, { host: 'localhost' });
    expect(await outcomeText(node)).toBe('7');
    expect((raw.sockets[0] as TLSSocket & { servername: unknown }).servername).toBe('localhost');
    await node.close();
    node = nodeAt(raw.url, {}, { headers: { host: 'other.test' } });
    expect(await outcomeText(node)).toBe('unsent, lost');
  });

  it('resumes the TLS session', async () => {
    setDefaultCACertificates([...trusted, own.cert.toString()]);
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
