import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogger } from '../../../../src/base/log.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import type { GenesisOptions } from '../../src/genesis/genesis.ts';
import { readBody, startLocalnetServer } from '../../src/http/server.ts';
import { rpcHandlers } from '../../src/rpc-handlers.ts';
import { openRig } from '../rig.ts';

/** A second embedded ledger that stands for a public cluster. */
export type RemoteCluster = Readonly<{
  url: string;
  /** Addresses of each getMultipleAccounts call. */
  reads: readonly (readonly string[])[];
  close(): Promise<void>;
}>;

export async function openRemoteCluster(
  accounts: readonly (readonly [Address, Account])[],
  programs: GenesisOptions['programs'] = [],
): Promise<RemoteCluster> {
  const rig = await openRig({ accounts, programs });
  rig.freeze(2);
  const reads: string[][] = [];
  const server = await startLocalnetServer(rig.node, {
    port: 0,
    log: createLogger('error', () => {}),
    handlers: {
      ...rpcHandlers,
      getMultipleAccounts: (node, params) => {
        reads.push((params as [string[]])[0]);
        return rpcHandlers.getMultipleAccounts(node, params);
      },
    },
  });
  const close = async (): Promise<void> => {
    await server.close();
    await rig.close();
  };
  return { url: `http://127.0.0.1:${server.port}`, reads, close };
}

/** HTTP server that answers with one script after the other and repeats the last one. */
export async function openScripted(...scripts: ((response: ServerResponse) => void)[]) {
  let calls = 0;
  const server = createServer(async (request, response) => {
    const script = scripts[Math.min(calls++, scripts.length - 1)];
    await readBody(request, 100_000);
    script?.(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}/secret-key`, host: `127.0.0.1:${port}`, calls: () => calls, close };
}
