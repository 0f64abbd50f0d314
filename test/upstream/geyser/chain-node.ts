import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GeyserServer } from '../feeds/geyser-server.ts';
import { respond, ScriptedChain, TRANSACTIONS, updatesOf } from './scripted-chain.ts';

/** A node in its own process, so that tests can kill it: JSON-RPC and Yellowstone gRPC for the scripted chain. */
const [rpcPort = 0, grpcPort = 0, firstVersion = 0] = process.argv.slice(2).map(Number);
const geyser = await GeyserServer.start(null, grpcPort);
const chain = new ScriptedChain(geyser, (slot) => updatesOf(slot, firstVersion + slot * TRANSACTIONS));

const rpc = createServer((request, response) => {
  void request.toArray().then((chunks) => {
    const { id, method, params = [] } = JSON.parse(Buffer.concat(chunks).toString());
    const result = respond(chain.tip, method, params);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
});
rpc.listen(rpcPort, '127.0.0.1', () => {
  const { port } = rpc.address() as AddressInfo;
  process.send?.({ rpcPort: port, grpcPort: Number(new URL(geyser.url).port), length: chain.length });
});

process.on('message', (to: number) => {
  chain.advance(to);
  process.send?.({ openStreams: chain.openStreams, opened: geyser.streams.length });
});
process.on('disconnect', () => process.exit());
