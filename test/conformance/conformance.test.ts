import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NodeAddress } from '../../conformance/node.ts';
import { describeRow } from '../../conformance/report.ts';
import { type Row, runConformance } from '../../conformance/run.ts';
import { type MethodName, methods } from '../../src/protocol/methods.ts';
import { type RunningLedger, startCaseLedger } from '../methods/case-ledger.ts';
import { type RunningService, startService } from '../service/start-service.ts';

/** Runs against the embedded ledger, a gateway in front of it, and a node with modified responses. */
let ledger: RunningLedger;
let service: RunningService;
let ours: NodeAddress;
let theirs: NodeAddress;

const compare = { pauseMs: 20, triesMax: 20 };

beforeAll(async () => {
  ledger = await startCaseLedger();
  const { url } = ledger;
  service = await startService({ configuration: '', arguments: ['--upstream', url] });
  ours = { name: 'ledger', url, headers: {} };
  const headers = { authorization: `Bearer ${service.key}` };
  theirs = { name: 'gateway', url: service.ready.rpcUrl, headers };
});
afterAll(async () => {
  await service?.stop();
  await ledger?.close();
});

/** A proxy that modifies some responses. */
async function startProxy(modify: (text: string) => string): Promise<Server> {
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const headers = { 'content-type': 'application/json' };
    const answered = await fetch(ours.url, { method: 'POST', headers, body: Buffer.concat(pieces) });
    response.end(modify(await answered.text()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function compareProxy(only: readonly MethodName[], modify: (text: string) => string): Promise<Row[]> {
  const server = await startProxy(modify);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    return await runConformance({ ours, theirs: { name: 'liar', url, headers: {} }, only, compare });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

describe('the conformance runner', () => {
  it('finds no difference between the ledger and a gateway in front of it, in any method', async () => {
    const rows = await runConformance({ ours, theirs, only: [], compare });
    expect(rows.filter(({ result }) => result.kind !== 'same').map(describeRow)).toEqual([]);
    expect(new Set(rows.map(({ plan }) => plan.method)).size).toBe(Object.keys(methods).length);
  });
  const add = (pattern: RegExp, difference: bigint) => (text: string) =>
    text.replace(pattern, (_, head: string, value: string) => `${head}${BigInt(value) + difference}`);

  it('detects a change of stake, which has no tolerance', async () => {
    const rows = await compareProxy(['getVoteAccounts'], add(/("activatedStake":)(\d+)/, 1n));
    const paths = rows.flatMap(({ result }) => result.differences.map(({ path }) => path));
    expect(paths).toContain('.current[0].activatedStake');
  });
});
