import { afterAll, expect, it } from 'vitest';
import { encodeBase58 } from '../../src/solana/base58.ts';
import { genesisHashes } from '../../src/upstream/genesis-hash.ts';
import { healthy, onMethod, reporting } from '../upstream/mock/behaviors.ts';
import { startMock } from '../upstream/mock/server.ts';
import { eventually } from './eventually.ts';
import { type RunningService, startService } from './start-service.ts';

const PAYER = encodeBase58(new Uint8Array(32).fill(3));
const signatures = Array.from({ length: 101 }, (_, n) => encodeBase58(new Uint8Array(64).fill(n + 1)));
const page = signatures.slice(1).map((signature) => ({ signature, slot: 7, blockTime: null }));
const message = { accountKeys: [{ pubkey: PAYER, signer: true }], instructions: [] };
const transaction = { slot: 7, blockTime: 1e9, meta: { err: null, fee: 5_000 } };
const PARAMS = /"params":\["(\w{64,88})"/;

/** The response to a request, except that one signature gets the transaction of another. */
function resultFor(body: string): string {
  const requested = PARAMS.exec(body)?.[1] ?? '';
  const signature = requested === signatures[50] ? signatures[51] : requested;
  return JSON.stringify({ ...transaction, transaction: { signatures: [signature], message } });
}

const node = await startMock(
  onMethod('getSignaturesForAddress', healthy(JSON.stringify(page)), (request, ...rest) =>
    reporting({ genesis: genesisHashes['mainnet-beta'], result: resultFor(request.raw) })(request, ...rest),
  ),
);
let service: RunningService;
afterAll(async () => {
  await service?.stop();
  await node.close();
});

const get = (key: string, path: string): Promise<Response> =>
  fetch(`${service.ready.url}/sol/v1/transaction/${path}`, { headers: { 'x-api-key': key } });

const polls = (text: string): number => node.polls.filter(({ raw }) => raw.includes(text)).length;

async function start(dataDir?: string, key?: string): Promise<void> {
  const before = polls('getGenesisHash');
  const configuration = `[[upstream]]\nname = "node"\nurl = "${node.url}"\nws = "off"\n`;
  service = await startService({ configuration, ...(dataDir !== undefined && { dataDir }) });
  // With its first call, the service also requests the chain of the node, which is a part of stored keys.
  await get(key ?? service.key, `parsed?txn_signature=${signatures[0]}`);
  await eventually(async () => polls('getGenesisHash') > before + 1 && polls('finalized') > 0, 'polls');
}

it('finalized history is read again without a call to a node, and after a restart with few', async () => {
  const callsOf = async (key: string): Promise<unknown[]> => {
    const response = await get(key, `history?account=${PAYER}&tx_num=100&before=${signatures[0]}`);
    return [response.status, response.headers.get('x-upstream-calls')];
  };
  await start();
  const { key, dataDir } = service;
  expect(await callsOf(key)).toEqual([200, '101']);
  expect(await callsOf(key)).toEqual([200, '0']);
  await service.stop();
  await start(dataDir, key);
  // The list of signatures is not on disk, nor a response that lacks the requested signature.
  expect(await callsOf(key)).toEqual([200, '2']);
});
