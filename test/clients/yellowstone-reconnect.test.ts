import { afterEach, expect, it } from 'vitest';
import { encodeBase58 } from '../../src/solana/base58.ts';
import { type Program, startProgram, temporaryFolder } from '../service/program.ts';
import { type RunningService, startService } from '../service/start-service.ts';
import { createSendRequest } from '../soak/ledger-truth.ts';
import { Traffic } from '../soak/traffic.ts';
import { connected, listen, nothing } from './yellowstone-client.ts';

/** The published client in reconnect mode, with a gateway that restarts while the chain advances. */
let localnet: Program | null = null;
let service: RunningService | null = null;
afterEach(async () => {
  await service?.stop();
  await localnet?.stop();
});

it('loses and duplicates nothing when the gateway restarts under reconnecting clients', async () => {
  const geyser = ['--geyser-port', '0', '--slot-ms', '100', '--json'];
  localnet = startProgram(['localnet', '--ledger', temporaryFolder('ledger'), '--rpc-port', '0', ...geyser]);
  const [line] = await localnet.said(/^\{"event":"ready".*\}$/m);
  const { rpcPort, pubsubPort, grpcPort } = JSON.parse(line) as Record<string, number>;
  const node = [
    ...['--upstream', `http://127.0.0.1:${rpcPort}/`, '--ws', `ws://127.0.0.1:${pubsubPort}/`],
    ...['--grpc', `http://127.0.0.1:${grpcPort}`],
  ];
  service = await startService({ configuration: '', arguments: node });
  const { grpcUrl, keys } = service.ready;
  const key = keys.find(({ product }) => product === 'grpc')?.key ?? '';
  const { dataDir } = service;
  const again = [...node, '--grpc-port', new URL(grpcUrl).port];

  const traffic = new Traffic(createSendRequest(`http://127.0.0.1:${rpcPort}/`));
  await traffic.fund();
  const client = await connected(grpcUrl, key, {
    enabled: true,
    backoff: { initialIntervalMs: 100, multiplier: 1.5, maxRetries: 30 },
    slotRetention: 250,
  });
  const ofPayer = {
    accountInclude: [traffic.payer.publicKey.toBase58()],
    accountExclude: [],
    accountRequired: [],
  };
  const stream = await listen(client, {
    ...nothing(),
    transactions: { ofPayer },
    blocksMeta: { meta: {} },
  });
  await stream.first(({ blockMeta }) => blockMeta !== undefined);

  const sent: string[] = [];
  let isSending = true;
  const sending = (async () => {
    while (isSending) {
      await traffic.refresh();
      const wire = await traffic.prepare(null);
      // One signature, behind its compact-u16 count.
      sent.push(encodeBase58(Buffer.from(wire, 'base64').subarray(1, 65)));
      await traffic.submit(wire);
    }
  })();
  const expectUpdate = (signature: string) =>
    stream.first(({ transaction }) => {
      const observed = transaction?.transaction?.signature;
      return observed !== undefined && encodeBase58(observed) === signature;
    });
  const newest = (): string => sent.at(-1)!;
  await expect.poll(() => sent.length, { timeout: 10_000 }).toBeGreaterThan(10);
  await expectUpdate(newest());
  await service.stop();
  const before = stream.updates.length;
  const away = sent.length;
  await expect.poll(() => sent.length, { timeout: 10_000 }).toBeGreaterThan(away + 20);
  service = await startService({ configuration: '', dataDir, arguments: again });
  await expectUpdate(newest());
  isSending = false;
  await sending;
  await expectUpdate(newest());

  const signatures = (receivedUpdates: typeof stream.updates): string[] =>
    receivedUpdates.flatMap(({ transaction }) =>
      transaction?.transaction === undefined ? [] : [encodeBase58(transaction.transaction.signature)],
    );
  const all = new Set(signatures(stream.updates));
  expect(sent.filter((signature) => !all.has(signature))).toEqual([]);
  // The client requests the last slots again, and version 5.0.9 delivers them twice; each gateway delivered
  // them once.
  for (const one of [stream.updates.slice(0, before), stream.updates.slice(before)]) {
    expect(signatures(one)).toHaveLength(new Set(signatures(one)).size);
  }
  stream.close();
}, 120_000);
