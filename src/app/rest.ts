import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../base/log.ts';
import { type EmbeddedStorage, openEmbeddedStorage } from '../control/storage/open-storage.ts';
import { openApi } from '../endpoints/openapi.ts';
import { endpoints } from '../endpoints/registry.ts';
import { routeOf } from '../endpoints/routes.ts';
import type { Services } from '../endpoints/services.ts';
import { Confirmations } from '../gateway/confirmations.ts';
import type { PipelineParts } from '../gateway/pipeline.ts';
import { RestGate } from '../gateway/rest/rest-gate.ts';
import { noTokenList, parseTokenList, type TokenList } from '../insight/token/token-list.ts';
import { type HttpRoutes, joinRoutes } from '../servers/http-route.ts';
import { ipfsRoutes } from '../servers/ipfs/server.ts';
import type { ApiDocument } from '../servers/reference/page.ts';
import { referenceRoutes } from '../servers/reference/routes.ts';
import { restRoutes } from '../servers/rest/server.ts';
import { OffChainClient } from '../upstream/off-chain/off-chain-client.ts';
import type { Configuration } from './configuration.ts';
import { PROGRAM_VERSION } from './program-version.ts';
import { stopEach } from './stop-each.ts';
import type { Upstreams } from './upstreams.ts';

/** What endpoints stand on besides the chain, as long as the service runs. */
export type RestServices = Readonly<{
  offChain: OffChainClient;
  tokenList: TokenList;
  storage: EmbeddedStorage;
  /** Tells where the service is reached, once that is known. */
  reachedAt(url: string): void;
  stop(): Promise<void>;
}>;

/** @throws TokenListFault, or the system's error when the file cannot be read. */
async function openTokenList({ rest }: Configuration): Promise<TokenList> {
  return rest.tokenList === null ? noTokenList : parseTokenList(await readFile(rest.tokenList, 'utf8'));
}

function openOffChain({ offChain, dataDir }: Configuration): Promise<OffChainClient> {
  const { allowNetworks, ports, ipfsGateways, arweaveGateways, ...limits } = offChain;
  const rules = { allowedNetworks: allowNetworks, ports, ipfsGateways, arweaveGateways };
  return OffChainClient.open({ folder: join(dataDir, 'off-chain'), rules, limits });
}

/** Opens what endpoints stand on. @throws what its parts throw when they cannot start. */
export async function openRest(configuration: Configuration): Promise<RestServices> {
  const { storage, dataDir } = configuration;
  const tokenList = await openTokenList(configuration);
  const offChain = await openOffChain(configuration);
  let base = '';
  const uriPrefix = (): string => storage.gateway ?? `${base}/ipfs/`;
  const { gateway: _, ...limits } = storage;
  const opened = await openEmbeddedStorage({ folder: join(dataDir, 'files'), uriPrefix, limits });
  return {
    ...{ offChain, tokenList, storage: opened },
    reachedAt(url) {
      base = url;
    },
    stop: () => stopEach([() => offChain.close()]),
  };
}

/** The routes of the REST interface, of the files that are stored, and of the page that shows the interface. */
export function restDoor(
  { rest, networks }: Configuration,
  parts: PipelineParts,
  { feed }: Upstreams,
  opened: RestServices,
  _log: Logger,
): HttpRoutes {
  const { historyDays, domainSuffix, tokenList: _tokenList, bodyMaxBytes, bodiesMaxBytes, ...limits } = rest;
  const services: Services = {
    offChain: opened.offChain,
    das: { has: () => false, ask: () => Promise.reject(new Error('no server of DAS')) },
    tokenList: opened.tokenList,
    files: opened.storage.files,
    semiWallets: null as never,
    confirmations: new Confirmations({ feed, feedNetwork: networks.default, source: parts.source }),
    settings: { historyDays, domainSuffix },
  };
  const routes = endpoints.map((endpoint) => routeOf(endpoint, services));
  const document = openApi(endpoints, PROGRAM_VERSION) as unknown as ApiDocument;
  const server = { bodyMaxBytes, bodiesMaxBytes };
  return joinRoutes(
    restRoutes(new RestGate(parts, limits), routes, server),
    ipfsRoutes(opened.storage.kept),
    referenceRoutes(document),
  );
}
