import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RawTransaction } from '../../src/protocol/geyser/raw-update.ts';
import { readRawUpdate } from '../../src/protocol/geyser/read-raw-update.ts';
import { encodeSubscribeRequest } from '../../src/protocol/geyser/subscribe-request.ts';
import { address } from '../../src/solana/address.ts';
import { type RunningLocalnet, startLocalnet } from '../programs/localnet.ts';
import { createSendRequest } from '../soak/ledger-truth.ts';
import { Traffic } from '../soak/traffic.ts';
import { eventually } from './eventually.ts';
import { type RunningService, startService } from './start-service.ts';

/**
 * Delay between sending the shreds of a transaction and executing it. Both streams share one HTTP/2 connection, so
 * the client receives messages in the order of writing. Only a service that stalls for this long could reverse it.
 */
const LEAD_MS = 300;
const SINGLE = 3;
const BURST = 18;

let ledger: RunningLocalnet;
let service: RunningService;
let client: Client;

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(() => resolve()));
  return port;
}

beforeAll(async () => {
  const udpPort = await freeUdpPort();
  const sending = ['--shreds-to', `127.0.0.1:${udpPort}`, '--shred-lead-ms', String(LEAD_MS)];
  ledger = await startLocalnet(400, sending);
  const at = (scheme: string, port: number): string => `"${scheme}://127.0.0.1:${port}"`;
  service = await startService({
    configuration: `
[[upstream]]
url = ${at('http', ledger.rpcPort)}
ws = ${at('ws', ledger.pubsubPort)}
grpc = ${at('http', ledger.grpcPort)}
[shreds]
udp = true
udp_host = "127.0.0.1"
udp_port = ${udpPort}
`,
  });
  client = new Client(new URL(service.ready.grpcUrl).host, credentials.createInsecure());
}, 60_000);
afterAll(async () => {
  client.close();
  await service.stop();
  await ledger.program.stop();
});

/** Subscribes to the transactions of a payer. @returns when the subscription is active. */
function listen(product: 'grpc' | 'fs', payer: string, observed: (signature: string) => void): Promise<void> {
  const metadata = new Metadata();
  metadata.set('x-token', service.ready.keys.find((key) => key.product === product)?.key ?? '');
  const asIs = (bytes: Buffer): Buffer => bytes;
  const stream = client.makeBidiStreamRequest('/geyser.Geyser/Subscribe', asIs, asIs, metadata);
  stream.on('error', () => {});
  const filter = { accountInclude: [address(payer)] };
  stream.write(Buffer.from(encodeSubscribeRequest({ transactions: new Map([['payer', filter]]) })));
  stream.write(Buffer.from(encodeSubscribeRequest({ ping: 1 })));
  return new Promise((resolve) => {
    stream.on('data', (bytes: Buffer) => {
      const update = readRawUpdate(bytes, Date.now());
      if (update?.kind === 'pong') resolve();
      if (update?.kind === 'transaction')
        observed(Buffer.from((update as RawTransaction).signature).toString('hex'));
    });
  });
}

it('each transaction, single or in a burst, arrives on the shred stage before the standard stream', async () => {
  const traffic = new Traffic(createSendRequest(`${service.ready.rpcUrl}?api-key=${service.key}`));
  await traffic.fund();
  const payer = traffic.payer.publicKey.toBase58();
  const early = new Set<string>();
  const standard: string[] = [];
  const late: string[] = [];
  await listen('fs', payer, (signature) => early.add(signature));
  await listen('grpc', payer, (signature) => {
    standard.push(signature);
    if (!early.has(signature)) late.push(signature);
  });
  for (let sent = 0; sent < SINGLE; sent++) await traffic.submit(await traffic.prepare(null));
  const wires = await Promise.all(Array.from({ length: BURST }, () => traffic.prepare(null)));
  await Promise.all(wires.map((wire) => traffic.submit(wire)));
  const all = SINGLE + BURST;
  await eventually(async () => standard.length >= all, 'all are received on the standard stream');
  expect([new Set(standard).size, early.size, late]).toEqual([all, all, []]);
}, 40_000);
