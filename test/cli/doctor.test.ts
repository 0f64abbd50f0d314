import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { temporaryFolder } from '../service/program.ts';
import { runHere } from './run-solway.ts';

const MAINNET = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const SECRET = 'hunter2hunter2';

let folder = '';
const servers: Server[] = [];

beforeEach(() => {
  folder = temporaryFolder('doctor');
});

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A node that supports the methods called by the doctor. */
async function startNode(genesis: string, pubsub = 'works', refused = ''): Promise<string> {
  const results: Record<string, unknown> = {
    getVersion: { 'solana-core': '4.1.0', 'feature-set': 1 },
    getGenesisHash: genesis,
    getHealth: 'ok',
    getSlot: 5,
    getFirstAvailableBlock: 0,
  };
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(404).end();
      return;
    }
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method } = JSON.parse(body);
    response.setHeader('content-type', 'application/json');
    const error = { code: -32010, message: 'excluded from account secondary indexes' };
    const answer = method === refused ? { error } : { result: results[method] ?? null };
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  });
  servers.push(server);
  const sockets = pubsub === 'none' ? null : new WebSocketServer({ server });
  sockets?.on('connection', (socket) =>
    socket.on('message', (data) => {
      const { id } = JSON.parse(String(data));
      if (pubsub === 'silent') return;
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: 0 }));
      const params = { result: { parent: 4, root: 1, slot: 5 }, subscription: 0 };
      socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'slotNotification', params }));
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/${SECRET}`;
}

const socketOf = (url: string): string => url.replace('http', 'ws');

const doctor = (...args: string[]) => runHere(folder, ['doctor', '--port', '0', ...args]);

describe('solway doctor', () => {
  it('reports no errors in an empty folder in development mode', async () => {
    const { code, out } = await doctor('--dev');
    expect(code).toBe(0);
    const marks = out.split('\n').map((line) => line.slice(0, 4).trim());
    expect(marks.join(' ')).toBe('ok ok ok warn ok ok ok ok ');
    expect(out).toContain('ok    embedded ledger: a new ledger will be created');
    expect(out).toContain(
      'warn  mode: development mode: calls go to an embedded ledger, not to a Solana network',
    );
  });

  it('checks every node without showing its URL or key', async () => {
    const good = await startNode(MAINNET);
    const { code, out, err } = await doctor('--upstream', good, '--ws', socketOf(good), '--json');
    const { ok, findings } = JSON.parse(out);
    expect([code, ok]).toEqual([0, true]);
    const [node, pubsub] = findings.slice(-3);
    expect(node).toMatchObject({ subject: 'upstream mainnet-beta-1 (mainnet-beta)', verdict: 'good' });
    expect(node.text).toMatch(/^version 4\.1\.0, slot 5, \d+ ms$/);
    const subject = 'PubSub of mainnet-beta-1 (mainnet-beta)';
    expect(pubsub).toEqual({ subject, verdict: 'good', text: 'responds, slot 5' });
    expect(out + err).not.toContain(SECRET);
  });

  it('reports nodes of another network and unreachable nodes', async () => {
    const wrong = await startNode(MAINNET);
    const args = ['--upstream', wrong, '--network', 'devnet', '--upstream', `http://127.0.0.1:1/${SECRET}`];
    const { code, out } = await doctor(...args);
    expect(code).toBe(1);
    expect(out).toContain('BAD   upstream devnet-1 (devnet): It belongs to mainnet-beta, not to devnet.');
    expect(out).toContain('BAD   upstream mainnet-beta-1 (mainnet-beta): Connection failed.');
    expect(out).not.toContain(SECRET);
  });

  it.each([
    ['none', 'connect failed|handshake rejected'],
    ['silent', 'invalid PubSub response'],
  ])('reports a PubSub endpoint that is %s', async (pubsub, why) => {
    writeFileSync(join(folder, 'solway.toml'), '[upstream_pool]\nattempt_timeout_ms = 500\n');
    const node = await startNode(MAINNET, pubsub);
    const result = await doctor('--upstream', node, '--ws', socketOf(node));
    expect(result.code).toBe(1);
    const subject = 'BAD   PubSub of mainnet-beta-1 \\(mainnet-beta\\)';
    const text = `${subject}: it delivers no notifications \\((?:${why})\\)\\. Check ws`;
    expect(result.out).toMatch(new RegExp(text));
    expect(result.out).not.toContain(SECRET);
  });

  it('checks transaction senders', async () => {
    const [node, restricted] = [
      await startNode(MAINNET, 'none'),
      await startNode(MAINNET, 'none', 'getHealth'),
    ];
    const plain = createServer((_request, response) => response.writeHead(405).end());
    servers.push(plain);
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    const ends = [restricted, `http://127.0.0.1:${(plain.address() as AddressInfo).port}/${SECRET}`];
    const sender = (url: string) => `[[sender]]\nurl = "${url}"\nheaders = { "x-token" = "${SECRET}" }\n`;
    const all = [...ends, `http://127.0.0.1:1/${SECRET}`].map(sender).join('');
    writeFileSync(join(folder, 'solway.toml'), `[[upstream]]\nurl = "${node}"\nws = "off"\n${all}`);
    const { code, out, err } = await doctor();
    const lines = out.split('\n').filter((line) => line.includes('sender'));
    expect([code, lines]).toEqual([
      1,
      [
        expect.stringMatching(/^ok +sender sender-1 \(mainnet-beta\): responds, \d+ ms$/),
        expect.stringMatching(/^BAD +sender sender-2 \(mainnet-beta\): The node returned HTTP status 405\./),
        expect.stringMatching(/^BAD +sender sender-3 \(mainnet-beta\): Connection failed\./),
      ],
    ]);
    expect(out + err).not.toContain(SECRET);
  });

  // 192.0.2.0/24 is reserved for documentation (RFC 5737), so no machine has such an address.
  it.each([
    ['[server]\nhost = "localhostt.invalid"', 'server.host: unknown host localhostt.invalid'],
    [
      '[shreds]\nudp_host = "203.0.113.9"',
      'shreds.udp_host: this machine does not have the address 203.0.113.9',
    ],
  ])('names the option that contains the address in %j', async (toml, text) => {
    writeFileSync(join(folder, 'solway.toml'), toml);
    const { code, out } = await doctor('--dev');
    expect([code, out]).toEqual([1, expect.stringContaining(`: ${text}`)]);
  });

  it('checks shred sources', async () => {
    const source = `[shreds]\ndeshred = [{ url = "http://127.0.0.1:1/${SECRET}", name = "far" }]\n`;
    writeFileSync(join(folder, 'solway.toml'), source);
    const { code, out } = await doctor();
    expect(code).toBe(1);
    expect(out).toContain('BAD   shred stage of far: it delivers no shreds (');
    expect(out).not.toContain(SECRET);
  });

  it('checks the dependencies of REST: methods, DAS servers and the token list', async () => {
    const node = await startNode(MAINNET, 'works', 'getProgramAccounts');
    const das = await startNode(MAINNET, 'none');
    const refusing = await startNode(MAINNET, 'none', 'getAssetsByOwner');
    writeFileSync(join(folder, 'tokens.json'), '[{"address":"x"}]');
    const toml = `
      [[upstream]]
      url = "${node}"
      [rest]
      token_list = "tokens.json"
      [[das]]
      url = "${das}/${SECRET}"
      [[das]]
      url = "${refusing}"
      [[das]]
      url = "http://127.0.0.1:1/${SECRET}"`;
    writeFileSync(join(folder, 'rest.toml'), toml);
    const { code, out } = await doctor('--config', 'rest.toml');
    expect(code).toBe(1);
    const lines = out.split('\n').filter((line) => /REST|DAS|token list/.test(line));
    expect(lines.map((line) => line.replace(/, enable .*/, ''))).toEqual([
      expect.stringMatching(
        /^warn +upstream mainnet-beta-1 .* rejects getProgramAccounts \(-32010\): REST returns no/,
      ),
      expect.stringMatching(/^ok +DAS das-1 \(mainnet-beta\): responds$/),
      expect.stringMatching(/^BAD +DAS das-2 \(mainnet-beta\): rejects getAssetsByOwner \(-32010\)/),
      expect.stringMatching(/^BAD +DAS das-3 \(mainnet-beta\): does not respond/),
      expect.stringMatching(/^BAD +token list: token 0 of the list: "address" must be 32 bytes in base58$/),
    ]);
    expect(out).not.toContain(SECRET);
  });
});

describe('solway config check', () => {
  it('summarizes a valid configuration with warnings', async () => {
    const file = join(folder, 'short.toml');
    const node = (name: string, url: string, more = '') =>
      `[[upstream]]\nname = "${name}"\nnetwork = "devnet"\nurl = "${url}"\n${more}`;
    const check = (...args: string[]) => runHere(folder, ['config', 'check', '--config', file, ...args]);
    writeFileSync(file, node('one', 'https://a.example') + node('two', 'http://127.0.0.1:8899'));
    expect(await check()).toEqual({
      code: 0,
      out: `Configuration valid: ${file}\nNodes: 2 of devnet\n`,
      err: '',
    });
    const store = `[store]\nclickhouse_url = "http://solway:${SECRET}@clickhouse.example:8123"\n`;
    const open =
      '[server]\nhost = "0.0.0.0"\n[metrics]\nopen = true\n[plans.pro]\nprices = { getBlok = 1, notKnown = 1 }\n';
    writeFileSync(file, node('one', `http://a.example/${SECRET}`, 'ws = "off"\n') + store + open);
    const { code, out } = await check();
    expect(out.match(/^.*?: [\w.[\]]+(?:: getBlok)?/gm)).toEqual([
      'Nodes: 1',
      'Warning: upstream',
      'Warning: upstream[0].url',
      'Warning: upstream[0]',
      'Warning: plans.pro.prices: getBlok',
      'Warning: store.clickhouse_url',
      'Warning: server.host',
      'Warning: metrics.open',
    ]);
    expect([code, out.includes(SECRET)]).toEqual([0, false]);
    expect(JSON.parse((await check('--json')).out).warnings).toHaveLength(7);
    writeFileSync(file, '');
    expect((await check()).out).toContain('Nodes: none\nWarning: upstream: no node is configured');
  });
});
