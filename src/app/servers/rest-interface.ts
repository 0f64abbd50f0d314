import type { Configuration } from '../../config/configuration.ts';
import type { PipelineParts } from '../../gateway/pipeline.ts';
import { Confirmations } from '../../gateway/rest/confirmations.ts';
import { RestGateway } from '../../gateway/rest/rest-gateway.ts';
import { withNetworks } from '../../rest-api/endpoint.ts';
import { openApi } from '../../rest-api/openapi.ts';
import { endpoints } from '../../rest-api/registry.ts';
import { routeOf } from '../../rest-api/routes.ts';
import type { Services } from '../../rest-api/services.ts';
import type { TrustedProxies } from '../../servers/client-address.ts';
import type { ResponseCompression } from '../../servers/compression.ts';
import { joinRoutes } from '../../servers/http/routes.ts';
import { ipfsRoutes } from '../../servers/ipfs/server.ts';
import type { ApiDocument } from '../../servers/reference/page.ts';
import { referenceRoutes } from '../../servers/reference/routes.ts';
import type { UploadLimits } from '../../servers/rest/multipart.ts';
import { restRoutes } from '../../servers/rest/server.ts';
import type { Feed } from '../../streams/feed.ts';
import type { Limits } from '../limits.ts';
import { PROGRAM_VERSION } from '../program-version.ts';
import type { RestServices } from './rest-services.ts';

function openConfirmations(
  { networks, confirmations, rest }: Configuration,
  { source }: PipelineParts,
  feed: Feed,
): Confirmations {
  const limits = { ...confirmations, waitMaxMs: Math.min(confirmations.waitMaxMs, rest.timeoutMs) };
  return new Confirmations({ feed, feedNetwork: networks.default, source, limits });
}

/** @throws Error when two routes have the same path */
export function buildRestInterface(
  configuration: Configuration,
  parts: PipelineParts,
  feed: Feed,
  restServices: RestServices,
  proxies: TrustedProxies,
  compression: ResponseCompression,
  { restWindows }: Limits,
) {
  const { rest, storage, uploads, ipfs } = configuration;
  const { historyDays, domainSuffix, bodyMaxBytes, bodiesMaxBytes } = rest;
  const confirmations = openConfirmations(configuration, parts, feed);
  const services: Services = { ...restServices, confirmations, settings: { historyDays, domainSuffix } };
  const configured = endpoints.map((endpoint) => withNetworks(endpoint, configuration.networks.names));
  const routes = configured.map((endpoint) => routeOf(endpoint, services));
  const upload: UploadLimits = { ...uploads, fileMaxBytes: storage.fileMaxBytes };
  const restOptions = { bodyMaxBytes, bodiesMaxBytes, upload, compression, proxies };
  const { fileStore, blocks } = restServices;
  const allRoutes = joinRoutes(
    restRoutes(new RestGateway(parts, rest, restWindows), routes, restOptions),
    fileStore === null ? new Map() : ipfsRoutes(fileStore, ipfs, blocks),
    // The cast is needed because the layer rules forbid sharing a type with the reference page.
    referenceRoutes(openApi(configured, PROGRAM_VERSION) as unknown as ApiDocument),
  );
  /** Ends requests that wait for confirmations: these could outlast the drain. */
  const endWaits = (): void => confirmations.close();
  return { routes: allRoutes, endWaits };
}
