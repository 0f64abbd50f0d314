import { describe, expect, it } from 'vitest';
import type { Network } from '../../src/protocol/call.ts';
import { genesisHashes, genesisHashesWith } from '../../src/upstream/genesis-hash.ts';
import { probeNode } from '../../src/upstream/probe/probe-node.ts';
import { deadUrl, htmlBadGateway, silent } from './mock/behaviors.ts';
import { closeAfterEach } from './mock/pool.ts';
import { type Behaviour, type MockNode, send, sendError, startMock } from './mock/server.ts';

let mock: MockNode;
const closing = closeAfterEach();

const results: Record<string, string> = {
  getVersion: '{"feature-set":1,"solana-core":"4.1.2"}',
  getGenesisHash: `"${genesisHashes.devnet}"`,
  getHealth: '"ok"',
  getSlot: '18446744073709551615',
  getFirstAvailableBlock: '12',
};

const node =
  (table: Record<string, string>): Behaviour =>
  ({ id, method }, reply) => {
    const result = table[method];
    if (result === undefined) sendError(reply, id, -32601, 'Method not found');
    else send(reply, `{"jsonrpc":"2.0","result":${result},"id":${id}}`);
  };

async function probe(behaviour: Behaviour, timeoutMs = 2_000): ReturnType<typeof probeNode> {
  mock = closing(await startMock(behaviour));
  return probeNode({ name: 'n', url: `${mock.url}secret-key-123` }, 'devnet', timeoutMs);
}

describe('probeNode', () => {
  it('reports no findings for a good node', async () => {
    const report = await probe(node(results));
    expect(report).toMatchObject({
      node: 'n',
      network: 'devnet',
      reachable: true,
      version: '4.1.2',
      genesisHash: genesisHashes.devnet,
      healthy: true,
      slot: 18446744073709551615n,
      firstAvailableBlock: 12n,
      findings: [],
    });
    expect(report.latencyMs).toBeGreaterThan(0);
  });

  it('names the network that the node actually belongs to', async () => {
    const report = await probe(node({ ...results, getGenesisHash: `"${genesisHashes['mainnet-beta']}"` }));
    expect(report.findings).toEqual([
      {
        severity: 'error',
        finding: 'It belongs to mainnet-beta, not to devnet.',
        remedy: 'List it under mainnet-beta, or correct its URL.',
      },
    ]);
  });

  it.each([
    ['an unknown chain', {}, []],
    ['its chain', { staging: '1'.repeat(32) }, []],
    ['another chain', { staging: '2'.repeat(32) }, [/^Its genesis hash 1+ is not that of staging\.$/]],
    [
      'that of another custom network',
      { other: '1'.repeat(32) },
      [/^It belongs to other, not to staging\.$/],
    ],
  ])('checks the genesis hash of a custom network: %s', async (_name, custom, findings) => {
    mock = closing(await startMock(node({ ...results, getGenesisHash: `"${'1'.repeat(32)}"` })));
    const hashes = genesisHashesWith(custom as Record<string, string>);
    const report = await probeNode({ name: 'n', url: mock.url }, 'staging' as Network, 2_000, hashes);
    expect(report.findings).toEqual(
      findings.map((text) =>
        expect.objectContaining({ severity: 'error', finding: expect.stringMatching(text) }),
      ),
    );
  });

  it.each<[string, Behaviour, RegExp]>([
    ['does not speak JSON-RPC', (_request, reply) => send(reply, 'hello'), /RPC port/],
    ['answers with an error page', htmlBadGateway, /Check the URL/],
    ['drops the connection', (_request, _reply, socket) => socket.destroy(), /https/],
    ['stays silent', silent, /firewall/],
  ])('gives a remedy for a node that %s', async (_name, behaviour, remedy) => {
    const report = await probe(behaviour, 200);
    expect(report).toMatchObject({ reachable: false, latencyMs: null, healthy: null, slot: null });
    expect(report.findings).toHaveLength(1);
    expect(report.findings[0]!.remedy).toMatch(remedy);
    expect(JSON.stringify(report)).not.toMatch(/secret|127\.0\.0\.1/);
    expect([...mock.received, ...mock.polls]).toHaveLength(1);
  });

  it('gives a remedy for an unreachable node', async () => {
    const report = await probeNode({ name: 'n', url: await deadUrl() }, 'devnet');
    expect(report.findings[0]!.finding).toBe('Connection failed.');
  });
});
