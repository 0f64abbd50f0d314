import { readFile } from 'node:fs/promises';
import type { Logger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import { SemiWalletStore } from '../../control/semi-wallets/semi-wallet-store.ts';
import type { SharedStorageQuota } from '../../control/storage/file-store.ts';
import {
  openEmbeddedStorage,
  openKuboStorage,
  openPinnedStorage,
  type Storage,
  type StorageOptions,
} from '../../control/storage/open-storage.ts';
import {
  noTokenList,
  parseTokenList,
  type TokenList,
  TokenListError,
} from '../../decoding/token/token-list.ts';
import { DasClient } from '../../upstream/das/das-client.ts';
import { OffChainClient } from '../../upstream/off-chain/off-chain-client.ts';
import { filesDir, offChainDir } from '../process/data-dir.ts';
import { type StopFunctions, stopEach } from '../process/stop-each.ts';
import type { PreparedStore } from '../store.ts';

/** @throws TokenListError */
export async function openTokenList({ rest }: Pick<Configuration, 'rest'>): Promise<TokenList> {
  const { tokenList } = rest;
  if (tokenList === null) return noTokenList;
  const text = await readFile(tokenList, 'utf8').catch((cause: unknown) => {
    throw new TokenListError(
      `rest.token_list: ${tokenList} cannot be read: correct the path or its permissions`,
      { cause },
    );
  });
  return parseTokenList(text);
}

function openOffChain({ offChain, dataDir }: Configuration, worker: number): Promise<OffChainClient> {
  const { allowNetworks, ports, ipfsGateways, arweaveGateways, ...limits } = offChain;
  const rules = { allowedNetworks: allowNetworks, ports, ipfsGateways, arweaveGateways };
  return OffChainClient.open({ folder: offChainDir(dataDir, worker), rules, limits });
}

async function openStorage(
  { kubo, pinning, storage, dataDir }: Configuration,
  ownPrefix: () => string,
  sharedQuota: SharedStorageQuota | undefined,
  log: Logger,
): Promise<Storage> {
  const { gateway, ...limits } = storage;
  const uriPrefix = () => gateway ?? ownPrefix();
  const options: StorageOptions = {
    folder: filesDir(dataDir),
    uriPrefix,
    limits,
    ...(sharedQuota && { sharedQuota }),
  };
  if (kubo.url !== null) {
    const { url, authorization, ...kuboLimits } = kubo;
    return openKuboStorage(options, { url, authorization, limits: kuboLimits });
  }
  if (pinning.url === null || pinning.token === null) return openEmbeddedStorage(options);
  const { url, token, origins, ...pinningLimits } = pinning;
  return openPinnedStorage(options, { url, token, origins, limits: pinningLimits }, log);
}

/** @throws the error of the service that failed to open, after closing the others */
export async function openRestServices(
  configuration: Configuration,
  { store, peppers }: PreparedStore,
  workerContext: Readonly<{ worker: number; sharedQuota: SharedStorageQuota }> | undefined,
  log: Logger,
) {
  const stops: StopFunctions = [];
  let baseUrl = '';
  try {
    const tokenList = await openTokenList(configuration);
    const semiWallets = await SemiWalletStore.open({ store, peppers, limits: configuration.semiWallets });
    const das = new DasClient(configuration.das, configuration.dasPool, log);
    stops.push(() => das.close());
    const offChain = await openOffChain(configuration, workerContext?.worker ?? 1);
    stops.push(() => offChain.close());
    const { uploads, fileStore, blocks, close } = await openStorage(
      configuration,
      () => `${baseUrl}/ipfs/`,
      workerContext?.sharedQuota,
      log,
    );
    stops.push(close);
    return {
      ...{ offChain, das, tokenList, files: uploads, fileStore, blocks, semiWallets },
      /** Sets the base URL under which files are served. */
      setUrl(url: string) {
        baseUrl = url;
      },
      stop: () => stopEach(stops),
    };
  } catch (error) {
    await stopEach(stops).catch(() => {});
    throw error;
  }
}

export type RestServices = Awaited<ReturnType<typeof openRestServices>>;
